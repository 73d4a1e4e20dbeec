"""Quix Streams over a backlog of its own, under the five rules.

Quix Streams is what a Python user finds on PyPI for windows over Kafka without a cluster. It gets what a competent user
of it would give: sliding windows (which hold what the engine's do, both ends included), one topic for each grouping
instead of one for each rule, small records, lz4, arrangements of processes by turns, states with and without a copy in
Kafka (the engine's state lies on the local disk alone), at least once instead of exactly once. Its best run counts.

What favours it: its alerts name rule, group and time, the engine's the payment, the contributors and the version as
well. It gets fewer payments, so its windows hold less, and it writes to every window that a payment falls into.
Nothing gets old enough to be cleaned away. What it has sent on in the first quarter is not timed. What does not: the
payments carry no key, so each grouping takes a topic more; the engine reads the same payments and takes none.

What it lacks beside the engine, whatever its speed: a rule is code, so that a new limit, window or rule is a restart,
and a new window begins empty. States hold JSON: amounts are whole cents here, an average is a float. A late payment
within the grace period corrects later windows, but an alert already sent is neither taken back nor marked; one after
that is dropped with a log line. Payments of several partitions come to a group in the order in which they were sent
on, which is another in each run. A payment that comes twice counts twice. A group's old windows are only removed when
it has another payment.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final

import numpy as np

from bench.figures import results
from bench.figures.results import Result
from bench.harness.backlog import Backlog, Workplace, filled
from bench.peers import peer_process, quix_process
from bench.throughput import RULES, versions, workload
from bench.workload.rules import Subject, Version
from bench.workload.workload import Column, Workload
from tripline_contracts import decimals

VERSION: Final = "3.28.1"
NAME: Final = f"Quix Streams {VERSION}"
PAYEES: Final = 100_000
_COMMIT_SECONDS: Final = 5.0
_DEADLINE_SECONDS: Final = 900.0
_CENT: Final = Decimal("0.01")
_GROUPINGS: Final = (("payeeId",), ("beneficiaryId",), ("beneficiaryId", "payeeId"))

Alert = tuple[int, str, int]
"""Rule, group and event time: all that an alert of the peer says of where it comes from."""


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Which processes do what, and whether states are kept in Kafka besides the disk."""

    name: str
    processes: tuple[tuple[tuple[str, ...], ...], ...]
    changelog: bool


ARRANGEMENTS: Final = tuple(
    Arrangement(f"{name}, {'changelog topics' if changelog else 'no changelog topics'}", processes, changelog)
    for changelog in (True, False)
    for name, processes in (
        ("a process per partition", (_GROUPINGS, _GROUPINGS)),
        ("a process per grouping", tuple((grouping,) for grouping in _GROUPINGS)),
    )
)


def measured(payments: int, seed: int, say: Callable[[str], None]) -> tuple[float, list[Result]]:
    """Payments a second of its best run over a backlog of its own, and all that was found."""
    python = peer_process.installed("quixstreams", VERSION)
    load = workload(payments, PAYEES, seed)
    rules = versions(load, RULES)
    measured_rows: list[Result] = []
    best = 0.0
    with filled(Backlog(load, rules)) as workplace:
        expected = expected_alerts(load, workplace.event_time, rules)
        for number, arrangement in enumerate(ARRANGEMENTS):
            name = f"{NAME}, {arrangement.name}"
            say(f"{name}; the best so far {best:,.0f}/s")
            run = _run(workplace, f"peer-{number}", rules, len(load), arrangement)
            rate, rows = peer_process.measured(
                python, "bench.peers.quix_process", workplace.folder, run, name
            )
            since = int(workplace.event_time[load.preloaded])
            measured_rows += [
                *rows,
                *compared(expected, told(peer_process.records(workplace.kafka, run.alerts), rules, since)),
            ]
            best = max(best, rate)
    return best, measured_rows


def _run(
    workplace: Workplace, name: str, rules: Iterable[Version], payments: int, arrangement: Arrangement
) -> quix_process.Run:
    return quix_process.Run(
        name=name,
        kafka=workplace.kafka,
        alerts=f"{name}-alerts",
        folder=str(workplace.folder / name),
        payments=payments,
        rules=tuple(_rule(version) for version in rules),
        processes=arrangement.processes,
        changelog=arrangement.changelog,
        commit_seconds=_COMMIT_SECONDS,
        deadline_seconds=_DEADLINE_SECONDS,
    )


def _rule(version: Version) -> quix_process.Rule:
    subject = version.subject
    limit = version.limit if subject.function == "COUNT" else version.limit / _CENT
    return quix_process.Rule(
        subject.rule_id, subject.function, subject.grouping, subject.window_seconds * 1_000, int(limit)
    )


def expected_alerts(load: Workload, event_time: Column, rules: Iterable[Version]) -> dict[Alert, str]:
    """Values of the last third's, counted independently, were all payments taken in the order of their event times.

    Of two payments of one group in one millisecond the later one counts: the peer's alerts don't tell them apart.
    """
    rank = np.arange(len(load))
    asked = np.flatnonzero(event_time >= event_time[load.preloaded])
    expected: dict[Alert, str] = {}
    for version in rules:
        subject = version.subject
        windows = subject.held(load, event_time, rank, asked)
        for row in np.flatnonzero(subject.over(windows, version.limit)).tolist():
            number = int(asked[row])
            alert = (subject.rule_id, _group(load, subject, number), int(event_time[number]))
            expected[alert] = subject.value(windows, row)
    return expected


def _group(load: Workload, subject: Subject, number: int) -> str:
    columns = {"payeeId": load.payee, "beneficiaryId": load.beneficiary}
    return ",".join(str(columns[field][number]) for field in subject.grouping)


def told(
    records: Iterable[tuple[bytes, bytes]], rules: Iterable[Version], since: int
) -> list[tuple[Alert, str]]:
    """The peer's alerts from that event time on, as they came."""
    functions = {version.subject.rule_id: version.subject.function for version in rules}
    raised = []
    for key, value in records:
        alert: Mapping[str, Any] = json.loads(value)
        if alert["eventTime"] >= since:
            where = (alert["ruleId"], json.loads(key), alert["eventTime"])
            raised.append((where, _value(functions[alert["ruleId"]], alert["value"])))
    return raised


def _value(function: str, value: float) -> str:
    if function == "COUNT":
        return str(value)
    amount = Decimal(value) * _CENT
    return decimals.plain(
        amount.quantize(Decimal("0.000001"), ROUND_HALF_EVEN) if function == "AVG" else amount
    )


def compared(expected: Mapping[Alert, str], raised: Sequence[tuple[Alert, str]]) -> list[Result]:
    """How far the peer's alerts are those of the count; nothing is required of them."""
    last = dict(raised)
    agree = Counter(last.get(alert) == value for alert, value in expected.items() if alert in last)
    of_count = len(expected)
    return [
        results.told("its alerts as the independent count has them", agree[True], "alerts", of_count),
        results.told("of these with another value at the last", agree[False], "alerts"),
        results.told("of these missing", len(expected.keys() - last.keys()), "alerts"),
        results.told("alerts that should not be", len(last.keys() - expected.keys()), "alerts"),
        results.told("alerts told again, with this value or another", len(raised) - len(last), "alerts"),
    ]
