"""What a run's measurements come to, against the bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from bench.figures import engine_metrics, results
from bench.figures.results import Result
from bench.harness.line import Measured
from bench.harness.stack import BenchFailed
from bench.independent.expected import Expected, expected_alerts, order_of
from bench.workload.rules import FIVE
from bench.workload.workload import number_of

Floats = npt.NDArray[np.float64]

MAX_P50_MS: Final = 150.0
MAX_P99_MS: Final = 280.0
MAX_TOLD_P99_MS: Final = 450.0
"""To the alert's record, and to its being told by the alert API's stream."""
MIN_ALERTS: Final = 1_000
MAX_APPLIED_MS: Final = 500.0
MAX_GROWTH_MS: Final = 100.0
"""How much later the engine may be at the end of the timed part than at its beginning. One that takes 0.04% less than
is sent is 120 ms later after five minutes; the samples of one that keeps up scatter by some 15 ms."""

_NOT_ACCUMULATED: Final = frozenset(subject.rule_id for subject in FIVE if subject.function == "MAX")


def judge(measured: Measured) -> list[Result]:
    """The rows of the table."""
    load, event_time = measured.load, measured.sender.event_time
    order = order_of(load, event_time, measured.order.batches, measured.rule_events)
    expected = expected_alerts(load, event_time, order, measured.versions)
    return [
        *_sent(measured),
        *_latency(measured),
        *_stream(measured),
        *_lag(measured),
        *compared(expected, {identity: told_by(alert) for identity, (_, alert) in measured.alerts.items()}),
        *engine_metrics.rows(*measured.watched.metrics),
    ]


def _sent(measured: Measured) -> list[Result]:
    options, load = measured.options, measured.load
    called = measured.sender.called_at[options.timed_from :]
    rate = (called.size - 1) / float(called[-1] - called[0])
    # versions 1 and 2 of each rule were there before the payments
    changes = len(measured.versions) - 2 * len(FIVE)
    wanted = (options.seconds + options.warm_up_seconds) // options.rule_change_seconds - 1
    late = float(np.percentile(measured.sender.late_ms(options.timed_from), 99))
    return [
        results.told("payments preloaded into the windows", load.preloaded, "payments"),
        results.told("preload sent and taken by the engine", measured.catch_up_seconds, "s"),
        results.told("silence in the windows before the live payments", measured.gap_seconds, "s"),
        results.at_least("payments sent", rate, "1/s", 0.99 * options.rate, reference=options.rate),
        results.told("producer called later than due, p99", late, "ms"),
        results.at_least("rule changes while they were sent", changes, "changes", wanted),
        results.at_most("payments rejected", measured.rejects, "payments", 0),
    ]


def _latency(measured: Measured) -> list[Result]:
    everything = timed_latencies_ms(measured)
    accumulated = {identity: read for identity, read in measured.alerts.items() if is_accumulated(read[1])}
    of_these = latencies_ms(accumulated, measured.sender.due_at, measured.options.timed_from)
    if not everything.size:
        raise BenchFailed("no alert of a timed payment was read")
    p50, p99 = np.percentile(everything, [50, 99])
    kafka50, kafka99 = np.percentile(measured.probes_ms, [50, 99])
    applied = _applied_ms(measured)
    applied50, applied99 = np.percentile(applied, [50, 99])
    before = latencies_ms(measured.alerts, measured.sender.due_at, measured.options.preloaded)
    work = np.array(measured.watched.work_ms)
    return [
        results.told("a fixed piece of work, p99 (reference: its fastest)", np.percentile(work, 99), "ms", work.min()),
        results.told("… its growth over the timed part, of its median", 100 * growth(list(enumerate(work))), "%"),
        results.at_least("alerts with a measured latency", everything.size, "alerts", MIN_ALERTS),
        results.at_least("of these of several payments together", of_these.size, "alerts", MIN_ALERTS),
        results.told("send to read through Kafka alone, p50", kafka50, "ms"),
        results.told("send to read through Kafka alone, p99", kafka99, "ms"),
        results.at_most("producer send to record read from alerts.v1, p50", p50, "ms", MAX_P50_MS, reference=kafka50),
        results.at_most("producer send to record read from alerts.v1, p99", p99, "ms", MAX_P99_MS, reference=kafka99),
        results.told("producer send to record read from alerts.v1, longest", everything.max(), "ms"),
        results.told("the same with the warm-up, p99", np.percentile(before, 99), "ms"),
        results.told("rule sent to the registry to applied by all shards, p50", applied50, "ms"),
        results.at_most("rule sent to the registry to applied by all shards, p99", applied99, "ms", MAX_APPLIED_MS),
        results.told("the same with the warm-up, longest", max(ms for _, ms in measured.applied), "ms"),
    ]  # fmt: skip


def timed_latencies_ms(measured: Measured) -> Floats:
    """From when a payment was due to when its alert was read, of all timed payments."""
    return latencies_ms(measured.alerts, measured.sender.due_at, measured.options.timed_from)


def _stream(measured: Measured) -> list[Result]:
    """What whoever follows the alert API sees, if somebody did."""
    if not measured.options.follow:
        return []
    told = {
        identity: (told_at, measured.alerts[identity][1])
        for identity, told_at in measured.told_at.items()
        if identity in measured.alerts
    }
    latencies = latencies_ms(told, measured.sender.due_at, measured.options.timed_from)
    everything = timed_latencies_ms(measured).size
    if not latencies.size:
        raise BenchFailed("the alert API's stream told of no alert of a timed payment")
    p50, p99 = np.percentile(latencies, [50, 99])
    return [
        results.at_least("alerts told by the alert API's stream", latencies.size, "alerts", everything),
        results.told("producer send to told by the alert API's stream, p50", p50, "ms"),
        results.at_most("producer send to told by the alert API's stream, p99", p99, "ms", MAX_TOLD_P99_MS),
    ]


def _applied_ms(measured: Measured) -> list[float]:
    timed_from = measured.sender.due_at[measured.options.timed_from]
    applied = [ms for applied_at, ms in measured.applied if applied_at >= timed_from]
    if not applied:
        raise BenchFailed("no rule was changed in the timed part")
    return applied


def _lag(measured: Measured) -> list[Result]:
    options, backlog = measured.options, measured.watched.backlog
    if len(backlog) < 5:
        raise BenchFailed("the timed part was too short to see a backlog grow")
    lag = [(read_at, unread * 1_000 / options.rate) for read_at, unread in backlog]
    later = slope(lag) * options.seconds
    p50, p99 = np.percentile([ms for _, ms in lag], [50, 99])
    return [
        results.at_most("growth of the lag over the timed part", later, "ms", MAX_GROWTH_MS, reference=p50),
        results.told("lag, p50 (payments sent and not yet in an order record, in ms of traffic)", p50, "ms"),
        results.told("lag, p99", p99, "ms"),
    ]


def latencies_ms(
    alerts: dict[str, tuple[float, dict[str, object]]], due_at: Floats, timed_from: int
) -> Floats:
    """ms from when a payment was due to be sent to when its alert was read, of timed payments."""
    delays: list[float] = []
    for read_at, alert in alerts.values():
        transaction = alert["transaction"]
        assert isinstance(transaction, dict)
        number = number_of(transaction["transactionId"])
        if number >= timed_from:
            delays.append((read_at - float(due_at[number])) * 1_000)
    return np.array(delays, np.float64)


def is_accumulated(alert: dict[str, object]) -> bool:
    """Whether it took several payments: not a maximum, which is one payment's, and not a window of one."""
    return alert["ruleId"] not in _NOT_ACCUMULATED and told_by(alert).count > 1


def slope(samples: Sequence[tuple[float, float]]) -> float:
    """Median of the slopes between any two samples (Theil and Sen): one stall does not look like growth."""
    taken_at, value = np.array(samples, np.float64).T
    first, second = np.triu_indices(taken_at.size, 1)
    return float(np.median((value[second] - value[first]) / (taken_at[second] - taken_at[first])))


def growth(samples: Sequence[tuple[float, float]]) -> float:
    """Of (at, value) in the order of time: from the first to the last, as a share of the values' median.

    Nought with fewer than two, and where that is nought.
    """
    median = float(np.median([value for _, value in samples])) if len(samples) > 1 else 0.0
    return slope(samples) * (samples[-1][0] - samples[0][0]) / median if median else 0.0


def compared(expected: dict[str, Expected], actual: dict[str, Expected]) -> list[Result]:
    """Both by alert id."""
    different = sum(expected[identity] != actual[identity] for identity in expected.keys() & actual.keys())
    return [
        results.at_least("alerts by the independent count", len(expected), "alerts", MIN_ALERTS),
        results.at_most("of these missing", len(expected.keys() - actual.keys()), "alerts", 0),
        results.at_most("of these with another value or count", different, "alerts", 0),
        results.at_most("alerts that should not be", len(actual.keys() - expected.keys()), "alerts", 0),
    ]


def told_by(alert: dict[str, object]) -> Expected:
    """What is compared of it."""
    contributors = alert["contributors"]
    assert isinstance(contributors, dict)
    return Expected(str(alert["value"]), int(contributors["count"]))
