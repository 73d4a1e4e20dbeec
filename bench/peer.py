"""`python -m bench.peer`: the five rules of `bench.throughput` in Quix Streams and in the engine, from the same topics.

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
import os
import subprocess
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
from confluent_kafka import Consumer, TopicPartition
from rich.console import Console

from bench import quix, results
from bench.backlog import Backlog, Place, filled, taken
from bench.results import Result
from bench.rules import Subject, Version
from bench.stack import BenchFailed
from bench.throughput import RULES, versions, workload
from bench.workload import Column, Workload
from tripline_contracts import decimals
from tripline_demo import leash, paths

QUIX: Final = "3.28.1"
NAME: Final = f"Quix Streams {QUIX}"
_PAYEES: Final = 100_000
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


@click.command()
@click.option(
    "--payments", type=click.IntRange(10_000), default=200_000, show_default=True, help="The peer's."
)
@click.option(
    "--ours", type=click.IntRange(100_000), default=1_500_000, show_default=True, help="The engine's."
)
@click.option("--shards", multiple=True, type=click.IntRange(1), default=(1, 2), show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(*, payments: int, ours: int, shards: tuple[int, ...], seed: int) -> None:
    """Measures how fast a peer takes a backlog under five rules, and the engine beside it."""
    console, begin = Console(width=150 if not sys.stdout.isatty() else None), time.monotonic()

    def say(text: str) -> None:
        console.print(f"[dim]{time.monotonic() - begin:5.0f} s[/]  {text}")

    theirs, found = _of_peer(payments, seed, say)
    best, of_engine = _of_engine(ours, shards, seed, say)
    found += of_engine
    found.append(
        results.told("the engine, the best of these (reference: the peer's best)", best, "payments/s", theirs)
    )
    results.show(found, console)
    results.write(found, paths.var_folder() / "peer.json")
    sys.exit(0 if all(result.ok for result in found) else 1)


def _of_peer(payments: int, seed: int, say: Callable[[str], None]) -> tuple[float, list[Result]]:
    python = installed(paths.var_folder() / "peers" / f"quix-{QUIX}")
    load = workload(payments, _PAYEES, seed)
    rules = versions(load, RULES)
    found: list[Result] = []
    best = 0.0
    with filled(Backlog(load, rules)) as place:
        expected = expected_alerts(load, place.event_time, rules)
        for number, arrangement in enumerate(ARRANGEMENTS):
            name = f"{NAME}, {arrangement.name}"
            say(f"{name}; the best so far {best:,.0f}/s")
            run = _run(place, f"peer-{number}", rules, len(load), arrangement)
            figures = _measured(python, place, run)
            since = int(place.event_time[load.preloaded])
            found += [
                results.told(name, figures.rate, "payments/s"),
                results.told(f"{name}: with the first quarter", figures.whole, "payments/s"),
                results.told(f"{name}: processor time of a payment", figures.cpu_us, "µs"),
                *compared(expected, told(_records(place.kafka, run.alerts), rules, since)),
            ]
            best = max(best, figures.rate)
    return best, found


def _of_engine(
    payments: int, shards: Sequence[int], seed: int, say: Callable[[str], None]
) -> tuple[float, list[Result]]:
    """More payments, because the peer's would be over before a JVM is warm."""
    load = workload(payments, _PAYEES, seed)
    found: list[Result] = []
    best = 0.0
    with filled(Backlog(load, versions(load, RULES))) as place:
        for count in shards:
            say(f"the engine, shards: {count}; the best so far {best:,.0f}/s")
            done = taken(place, count)
            found += [results.told(f"the engine, shards: {count}", done.rate, "payments/s"), *done.checked]
            best = max(best, done.rate)
    return best, found


def installed(folder: Path) -> Path:
    """The Python of an environment that holds the peer; it is made when it is not there."""
    python, done = folder / "bin" / "python", folder / "complete"
    if not done.exists():
        uv = str(Path(sysconfig.get_path("scripts")) / "uv")
        _succeed([uv, "venv", "-q", "--clear", "--python", sys.executable, str(folder)])
        _succeed([uv, "pip", "install", "-q", "--python", str(python), f"quixstreams=={QUIX}"])
        done.touch()
    return python


def _succeed(command: Sequence[str]) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise BenchFailed(f"the peer could not be installed:\n{ended.stderr[-2_000:]}")


def _run(
    place: Place, name: str, rules: Iterable[Version], payments: int, arrangement: Arrangement
) -> quix.Run:
    return quix.Run(
        name=name,
        kafka=place.kafka,
        alerts=f"{name}-alerts",
        folder=str(place.folder / name),
        payments=payments,
        rules=tuple(_rule(version) for version in rules),
        processes=arrangement.processes,
        changelog=arrangement.changelog,
        commit_seconds=_COMMIT_SECONDS,
        deadline_seconds=_DEADLINE_SECONDS,
    )


def _rule(version: Version) -> quix.Rule:
    subject = version.subject
    limit = version.limit if subject.function == "COUNT" else version.limit / _CENT
    return quix.Rule(
        subject.rule_id, subject.function, subject.grouping, subject.window_seconds * 1_000, int(limit)
    )


def _measured(python: Path, place: Place, run: quix.Run) -> quix.Figures:
    file, log = place.folder / f"{run.name}.json", place.folder / f"{run.name}.log"
    file.write_text(run.text(), encoding="utf-8")
    process = leash.start(
        [str(python), "-m", "bench.quix", str(file)],
        log=log,
        environment={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    try:
        while process.is_running():
            time.sleep(0.2)
    finally:
        process.stop()
    if process.process.returncode:
        raise BenchFailed(f"{NAME} failed:\n{process.last_lines()}")
    return quix.Figures(**json.loads(process.last_lines(1)))


def _records(bootstrap_servers: str, topic: str) -> list[tuple[bytes, bytes]]:
    """Key and value of all there are: the peer has ended."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap_servers, "group.id": "bench", "enable.auto.commit": False}
    )
    place = TopicPartition(topic, 0, 0)
    found: list[tuple[bytes, bytes]] = []
    try:
        _, end = consumer.get_watermark_offsets(place, timeout=30)
        consumer.assign([place])
        while len(found) < end:
            message = consumer.poll(30)
            if message is None or message.error() is not None:
                raise BenchFailed(f"{topic} has {end} records, but {len(found)} could be read")
            found.append((message.key() or b"", message.value() or b""))
    finally:
        consumer.close()
    return found


def expected_alerts(load: Workload, event_time: Column, rules: Iterable[Version]) -> dict[Alert, str]:
    """Values of the last third's, counted independently, were all payments taken in the order of their event times.

    Of two payments of one group in one millisecond the later one counts: the peer's alerts don't tell them apart.
    """
    rank = np.arange(len(load))
    asked = np.flatnonzero(event_time >= event_time[load.preloaded])
    found: dict[Alert, str] = {}
    for version in rules:
        subject = version.subject
        windows = subject.held(load, event_time, rank, asked)
        for at in np.flatnonzero(subject.over(windows, version.limit)).tolist():
            number = int(asked[at])
            alert = (subject.rule_id, _group(load, subject, number), int(event_time[number]))
            found[alert] = subject.value(windows, at)
    return found


def _group(load: Workload, subject: Subject, number: int) -> str:
    columns = {"payeeId": load.payee, "beneficiaryId": load.beneficiary}
    return ",".join(str(columns[field][number]) for field in subject.grouping)


def told(
    records: Iterable[tuple[bytes, bytes]], rules: Iterable[Version], since: int
) -> list[tuple[Alert, str]]:
    """The peer's alerts from that event time on, as they came."""
    functions = {version.subject.rule_id: version.subject.function for version in rules}
    found = []
    for key, value in records:
        alert: Mapping[str, Any] = json.loads(value)
        if alert["eventTime"] >= since:
            where = (alert["ruleId"], json.loads(key), alert["eventTime"])
            found.append((where, _value(functions[alert["ruleId"]], alert["value"])))
    return found


def _value(function: str, value: float) -> str:
    if function == "COUNT":
        return str(value)
    amount = Decimal(value) * _CENT
    return decimals.plain(
        amount.quantize(Decimal("0.000001"), ROUND_HALF_EVEN) if function == "AVG" else amount
    )


def compared(expected: Mapping[Alert, str], found: Sequence[tuple[Alert, str]]) -> list[Result]:
    """How far the peer's alerts are those of the count; nothing is required of them."""
    last = dict(found)
    agree = Counter(last.get(alert) == value for alert, value in expected.items() if alert in last)
    of_count = len(expected)
    return [
        results.told("its alerts as the independent count has them", agree[True], "alerts", of_count),
        results.told("of these with another value at the last", agree[False], "alerts"),
        results.told("of these missing", len(expected.keys() - last.keys()), "alerts"),
        results.told("alerts that should not be", len(last.keys() - expected.keys()), "alerts"),
        results.told("alerts told again, with this value or another", len(found) - len(last), "alerts"),
    ]


if __name__ == "__main__":
    main()
