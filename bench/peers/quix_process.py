"""The five rules in Quix Streams, over the same topic: processes of their own, in an environment of their own.

`python -m bench.peers.quix_process <file>` takes a `Run` as JSON and writes one line of JSON: a `Figures`. Nothing of
this project is imported, because that environment holds Quix Streams and nothing else.

    transactions.v1 ─ cents ─┬─ group_by payee ────────────── COUNT 10 min, MAX 60 min ──────┐
                             ├─ group_by beneficiary ──────── AVG 5 min ─────────────────────┼─ over its limit ─ alerts
                             └─ group_by beneficiary, payee ─ SUM 20 min, SUM 30 min ────────┘

Each group_by is a topic of its own (the payments carry no key), shared by the rules of that grouping. Amounts are whole
cents: a state holds JSON, so no decimals.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.sharedctypes import Synchronized, SynchronizedArray
from pathlib import Path
from typing import Any, Final

Row = dict[str, Any]

PARTITIONS: Final = 2
GRACE_MS: Final = 600_000
"""How late a payment may be: what the engine allows by default."""
_TICK_SECONDS: Final = 0.05
_STOP_SECONDS: Final = 120


@dataclass(frozen=True, slots=True)
class Rule:
    """What is watched; the limit is in cents, or a count."""

    rule_id: int
    function: str
    grouping: tuple[str, ...]
    window_ms: int
    limit: int


@dataclass(frozen=True, slots=True)
class Run:
    """What is to be done.

    :ivar name: of the consumer groups; topics and states are named for it
    :ivar processes: the groupings that each process works for; those that name the same share a consumer group
    :ivar changelog: whether states are kept in Kafka besides the disk
    """

    name: str
    kafka: str
    alerts: str
    folder: str
    payments: int
    rules: tuple[Rule, ...]
    processes: tuple[tuple[tuple[str, ...], ...], ...]
    changelog: bool
    commit_seconds: float
    deadline_seconds: float

    def text(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    @property
    def groupings(self) -> tuple[tuple[str, ...], ...]:
        """Those of the rules, each once."""
        return tuple(dict.fromkeys(rule.grouping for rule in self.rules))


@dataclass(frozen=True, slots=True)
class Sample:
    """When (seconds), and how many payments were taken through each grouping."""

    at: float
    taken: tuple[int, ...]


def read(text: str) -> Run:
    """What `Run.text` wrote."""
    parsed = json.loads(text)
    rules = tuple(Rule(**{**rule, "grouping": tuple(rule["grouping"])}) for rule in parsed["rules"])
    processes = tuple(tuple(tuple(one) for one in process) for process in parsed["processes"])
    return Run(**{**parsed, "rules": rules, "processes": processes})


@dataclass(frozen=True, slots=True)
class Figures:
    """What a run came to.

    :ivar rate: payments a second, without the first quarter of the work
    :ivar whole: with all of it
    :ivar seconds: how long the timed part was
    :ivar cpu_us: processor time of all processes for a payment, starts included
    :ivar late: payments that a window refused because they came too late
    """

    rate: float
    whole: float
    seconds: float
    cpu_us: float
    late: int


def rates(samples: Sequence[Sample], rules_of: Sequence[int], payments: int) -> tuple[float, float, float]:
    """Payments a second without the first quarter of the work and with all of it, and the seconds of the former.

    It ends when the last rule has taken the last payment. One grouping may be ahead of another, so what was done before
    is counted in evaluations of all rules.

    :param rules_of: how many rules each grouping has
    """

    def work(sample: Sample) -> float:
        done = sum(taken * rules for taken, rules in zip(sample.taken, rules_of, strict=True))
        return done / sum(rules_of)

    begin = next(sample for sample in samples if work(sample) > 0)
    quarter = next(sample for sample in samples if work(sample) >= payments / 4)
    end = next(sample for sample in samples if min(sample.taken) >= payments)
    seconds = end.at - quarter.at
    return (payments - work(quarter)) / seconds, (payments - work(begin)) / (end.at - begin.at), seconds


def main(run: Run) -> None:
    """Runs until every rule has taken every payment."""
    context = multiprocessing.get_context("spawn")
    places = len(run.groupings) * PARTITIONS
    ends: SynchronizedArray[int] = context.Array("q", places)
    late: Synchronized[int] = context.Value("q", 0)
    workers = [
        context.Process(target=_work, args=(run, mine, ends, late), daemon=True) for mine in run.processes
    ]
    # so that the workers end with this process
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    for worker in workers:
        worker.start()
    try:
        samples = _watched(run, workers, ends)
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join(_STOP_SECONDS)
    rules_of = [sum(rule.grouping == grouping for rule in run.rules) for grouping in run.groupings]
    rate, whole, seconds = rates(samples, rules_of, run.payments)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_us = (used.ru_utime + used.ru_stime) * 1e6 / run.payments
    print(json.dumps(asdict(Figures(rate, whole, seconds, cpu_us, late.value))))


def _watched(run: Run, workers: Sequence[Any], ends: SynchronizedArray[int]) -> list[Sample]:
    samples: list[Sample] = []
    deadline = time.monotonic() + run.deadline_seconds
    while not samples or min(samples[-1].taken) < run.payments:
        time.sleep(_TICK_SECONDS)
        if time.monotonic() > deadline or not all(worker.is_alive() for worker in workers):
            raise SystemExit(
                f"{run.name} ended before its time: {samples[-1] if samples else 'nothing taken'}"
            )
        now, places = time.monotonic(), ends[:]
        by_grouping = range(0, len(places), PARTITIONS)
        samples.append(Sample(now, tuple(sum(places[first : first + PARTITIONS]) for first in by_grouping)))
    return samples


def _work(
    run: Run, mine: tuple[tuple[str, ...], ...], ends: SynchronizedArray[int], late: Synchronized[int]
) -> None:
    from quixstreams import Application  # noqa: PLC0415  # the tests of the above have no Quix Streams

    place_of: dict[str, int] = {}
    taken = ends.get_obj()

    def count(topic: str, partition: int, offset: int) -> None:
        # one process at a time has a partition, and what is sent to it again has the next offset
        base = place_of.get(topic)
        if base is None:
            names = [index for index, one in enumerate(run.groupings) if topic.endswith(f"--{_name(one)}")]
            base = place_of[topic] = names[0] * PARTITIONS if names else -1
        if base >= 0:
            taken[base + partition] = offset + 1

    def on_late(*_: object) -> bool:
        with late.get_lock():
            late.value += 1
        return False

    application = Application(
        broker_address=run.kafka,
        consumer_group=f"{run.name}-{'-'.join(map(_name, mine))}",
        auto_offset_reset="earliest",
        commit_interval=run.commit_seconds,
        use_changelog_topics=run.changelog,
        state_dir=run.folder,
        consumer_extra_config={"fetch.wait.max.ms": 50, "fetch.queue.backoff.ms": 10},
        producer_extra_config={
            "compression.type": "lz4",
            "linger.ms": 20,
            "queue.buffering.max.messages": 1_000_000,
        },
        on_message_processed=count,
        loglevel="WARNING",
    )
    _define(application, run, mine, on_late)
    application.run()


def _define(
    application: Any, run: Run, mine: Sequence[tuple[str, ...]], on_late: Callable[..., bool]
) -> None:
    payments = application.dataframe(
        application.topic("transactions.v1", value_deserializer="json", key_deserializer="bytes")
    ).apply(_in_cents)
    alerts = application.topic(run.alerts, value_serializer="json", key_serializer="json")
    for grouping in mine:
        # a branch of its own: group_by ends the one it is called on
        grouped = payments.apply(_part(grouping)).group_by(_key(grouping), name=_name(grouping))
        for rule in run.rules:
            if rule.grouping != grouping:
                continue
            window = grouped.sliding_window(rule.window_ms, GRACE_MS, on_late=on_late)
            told = window.agg(value=_aggregate(rule.function)).current().filter(_over(rule.limit))
            told.apply(_named(rule.rule_id)).to_topic(alerts)


def _in_cents(payment: Mapping[str, Any]) -> Row:
    return {
        "payeeId": payment["payeeId"],
        "beneficiaryId": payment["beneficiaryId"],
        "cents": round(float(payment["paymentAmount"]) * 100),
    }


def _part(grouping: tuple[str, ...]) -> Callable[[Row], Row]:
    """What is sent on: no more than needed."""
    if grouping == ("payeeId",):
        return lambda row: {"payeeId": row["payeeId"], "cents": row["cents"]}
    if grouping == ("beneficiaryId",):
        return lambda row: {"beneficiaryId": row["beneficiaryId"], "cents": row["cents"]}
    return lambda row: row


def _key(grouping: tuple[str, ...]) -> Callable[[Row], str]:
    if len(grouping) == 1:
        (field,) = grouping
        return lambda row: str(row[field])
    first, second = grouping
    return lambda row: f"{row[first]},{row[second]}"


def _name(grouping: tuple[str, ...]) -> str:
    return "_".join(grouping)


def _aggregate(function: str) -> Any:
    from quixstreams.dataframe.windows import Count, Max, Mean, Sum  # noqa: PLC0415

    of_cents = {"SUM": Sum, "AVG": Mean, "MAX": Max}
    return Count() if function == "COUNT" else of_cents[function]("cents")


def _over(limit: int) -> Callable[[Row], bool]:
    return lambda window: window["value"] > limit


def _named(rule_id: int) -> Callable[[Row], Row]:
    return lambda window: {"ruleId": rule_id, "eventTime": window["end"], "value": window["value"]}


if __name__ == "__main__":
    main(read(Path(sys.argv[1]).read_text(encoding="utf-8")))
