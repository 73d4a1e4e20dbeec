"""What a run's measurements come to, against the bars."""

from __future__ import annotations

from typing import Final

import numpy as np

from bench import results
from bench.expected import Expected, expected_alerts, order_of
from bench.line import Measured
from bench.results import Result
from bench.rules import FIVE
from bench.stack import BenchFailed
from bench.workload import number_of

MAX_P99_MS: Final = 500.0
MIN_ALERTS: Final = 1_000
MAX_APPLIED_MS: Final = 1_000.0


def judge(measured: Measured) -> list[Result]:
    """The rows of the table."""
    options, load = measured.options, measured.load
    latencies = _latencies(measured)
    order = order_of(load, measured.sender.event_time, measured.order.batches, len(measured.log.versions))
    expected = expected_alerts(load, measured.sender.event_time, order, measured.log)
    changes = len(measured.log.versions) - 2 * len(FIVE)
    wanted_changes = (options.seconds + options.warm_up_seconds) // options.rule_change_seconds - 1
    live_rate = options.live / measured.timed_seconds
    p50, p99 = np.percentile(latencies, [50, 99])
    slope, largest = _growth(measured.backlog)
    applied = float(np.percentile(measured.applied_ms, 99)) if measured.applied_ms else 0.0
    return [
        results.told("payments preloaded into the windows", load.preloaded, "payments"),
        results.told("preload taken by the engine, its start included", measured.catch_up_seconds, "s"),
        results.told("silence in the windows before the live payments", measured.gap_seconds, "s"),
        results.at_least("payments sent", live_rate, "1/s", 0.98 * options.rate),
        results.at_least("rule changes while they were sent", changes, "changes", wanted_changes),
        results.at_least("alerts with a measured latency", latencies.size, "alerts", MIN_ALERTS),
        results.told("producer send to record read from alerts.v1, p50", p50, "ms", 100.0),
        results.at_most("producer send to record read from alerts.v1, p99", p99, "ms", MAX_P99_MS),
        results.told("producer send to record read from alerts.v1, longest", latencies.max(), "ms"),
        results.at_most("growth of the unread backlog", slope, "payments/s", 0.01 * options.rate),
        results.told("largest unread backlog", largest, "payments", float(options.rate)),
        results.at_most("rule published to applied by all shards, p99", applied, "ms", MAX_APPLIED_MS),
        results.at_most("payments rejected", measured.rejects, "payments", 0),
        *_compared(measured, expected),
    ]  # fmt: skip


def _latencies(measured: Measured) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """ms, of the alerts whose payment was sent in the timed part."""
    timed_from = measured.load.preloaded + measured.options.warm_up_seconds * measured.options.rate
    found = []
    for at, alert in measured.alerts.values():
        transaction = alert["transaction"]
        assert isinstance(transaction, dict)
        number = number_of(transaction["transactionId"])
        if number >= timed_from:
            found.append((at - measured.sender.sent_at[number]) * 1_000)
    if not found:
        raise BenchFailed("no alert of a timed payment was read")
    return np.array(found, np.float64)


def _growth(backlog: list[tuple[float, int]]) -> tuple[float, float]:
    """Slope of the line through the samples (payments a second) and the largest of them."""
    seconds, unread = np.array([at for at, _ in backlog]), np.array([count for _, count in backlog])
    if unread.size < 2:
        raise BenchFailed("the timed part was too short to see a backlog grow")
    slope = np.polyfit(seconds, unread, 1)[0]
    return float(slope), float(unread.max())


def _compared(measured: Measured, expected: dict[str, Expected]) -> list[Result]:
    actual = {identity: _told_by(alert) for identity, (_, alert) in measured.alerts.items()}
    missing, unexpected = expected.keys() - actual.keys(), actual.keys() - expected.keys()
    different = [
        identity for identity in expected.keys() & actual.keys() if expected[identity] != actual[identity]
    ]
    return [
        results.at_least("alerts by the independent count", len(expected), "alerts", MIN_ALERTS),
        results.at_most("of these missing", len(missing), "alerts", 0),
        results.at_most("of these with another value or count", len(different), "alerts", 0),
        results.at_most("alerts that should not be", len(unexpected), "alerts", 0),
    ]


def _told_by(alert: dict[str, object]) -> Expected:
    contributors = alert["contributors"]
    assert isinstance(contributors, dict)
    return Expected(str(alert["value"]), int(contributors["count"]))
