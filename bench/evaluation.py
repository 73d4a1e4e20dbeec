"""`python -m bench.evaluation`: what one evaluation costs with 1,000 and with 1,000,000 payments in the window.

One group, a payment each millisecond, every aggregate: through packing and a shard, in this process and without Kafka
or Spark. Per aggregate there are three shards that take the same micro-batches by turns: one with the short window, one
with the long one, and one without a rule, to tell what is not the evaluation. Windows slide all the time.

    payments  … x x x x x x x x x x|t t t … t t|c c c c       x: to fill the windows, and until clean-up is at work too
                                    timed       checked       c: every value and count against a plain look at arrays

Processor time: of the whole micro-batch, and of judging alone: taking payments into the history of the rule's anchor,
its lists and windows, and holding them against the limit. What a rule adds besides is told without a bar: a longer
window keeps more in the state log, which is merged and pruned with every micro-batch.
Writes var/evaluation.json; exit code 1 if a bar is missed.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import ClassVar, Final, Protocol, get_args

import click
import numpy as np
from rich.console import Console

from bench.figures import results
from bench.figures.results import Result
from bench.independent.plain_windows import plainly_held
from bench.retained import packed, published
from bench.workload.rules import UNREACHABLE, Subject
from bench.workload.workload import Workload, number_of, values
from tripline_contracts.event_type_loader import load as load_type
from tripline_contracts.rules.rule_definition import Function
from tripline_demo import paths
from tripline_engine.domain.judging.anchor import Anchor
from tripline_engine.domain.judging.judgement import Judgement
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.tolerances import Tolerances
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.shard.shard_tuning import ShardTuning
from tripline_engine.domain.shard.shard_worker import Attached, ShardWorker
from tripline_engine.domain.shard.tick import tick_payload
from tripline_engine.domain.state_log.memory_log import MemoryLog
from tripline_engine.domain.transactions.columns import TransactionBatch
from tripline_engine.topic_names import ALERTS, SHADOW_ALERTS

MOST_RATIO: Final = 1.5
# Payments have no positions; bench.beside gives them some.
FUNCTIONS: Final[tuple[Function, ...]] = tuple(name for name in get_args(Function) if name != "SPEED_KMH")
_TYPE: Final = load_type("transaction")
_START: Final = 1_700_000_000_000
_KEPT_LATER_MS: Final = Tolerances().allowed_lateness_ms + Tolerances().max_disorder_ms
_FILLED_BY: Final = 50_000
_CHECKED: Final = 50
_BENEFICIARIES: Final = 100_000
_EVERYTHING: Final = -UNREACHABLE
_ANCHOR: Final = "payeeId"
_JUDGED: Final = (_ANCHOR, "beneficiaryId", "account")


class TimedAnchor(Anchor):
    """Arrays of an anchor that measure the processor time of judging on the rule's anchor, a field or a party, since it
    was set to 0."""

    judging_seconds: ClassVar[float] = 0.0

    def judge(self, rows: TransactionBatch, book: RuleBook, watermarks: Watermarks) -> Judgement:
        begin = time.process_time()
        judgement = super().judge(rows, book, watermarks)
        if self.name in _JUDGED:
            TimedAnchor.judging_seconds += time.process_time() - begin
        return judgement


class Rule(Protocol):
    """Whatever can be published under a limit."""

    def body(self, limit: Decimal, effective_from: int) -> dict[str, object]:
        """As the registry is sent it."""


@dataclass(slots=True)
class Shard:
    """A shard of its own under one rule, or none, and the ms of processor time of its timed micro-batches.

    :ivar judging_ms: of these, for judging on the rule's anchor
    """

    config: EngineConfig
    folder: Path
    subject: Rule | None
    log: MemoryLog = field(default_factory=MemoryLog)
    attached: Attached = field(default_factory=dict)
    ms: list[float] = field(default_factory=list)
    judging_ms: list[float] = field(default_factory=list)

    def take(self, payloads: Sequence[Payload]) -> list[dict[str, object]]:
        """Judges a micro-batch; its alerts, and those of shadows."""
        tuning = ShardTuning(anchor_type=TimedAnchor)
        worker = ShardWorker(self.config, 0, self.log, self.folder, lambda: _START, self.attached, tuning)
        TimedAnchor.judging_seconds = 0.0
        begin = time.process_time()
        records = worker.process(payloads)
        self.ms.append((time.process_time() - begin) * 1_000)
        self.judging_ms.append(TimedAnchor.judging_seconds * 1_000)
        return [json.loads(record.value) for record in records if record.topic in (ALERTS, SHADOW_ALERTS)]

    def publish(self, version: int, limit: Decimal, effective_from: int) -> None:
        """Gives its rule this limit."""
        if self.subject is not None:
            body = self.subject.body(limit, effective_from)
            event_type = self.config.event_type
            self.take([published(1, body, event_type=event_type, position=version, version=version)])

    def try_beside(self, version: int, body: dict[str, object]) -> None:
        """Starts a shadow of its rule, with this body."""
        event_type, event = self.config.event_type, "RuleShadowStarted"
        self.take([published(1, body, event_type=event_type, position=version, version=version, event=event)])


@dataclass(frozen=True, slots=True)
class Stream:
    """Payments of one payer, one each millisecond, as micro-batches: large ones that fill, those timed, one checked."""

    load: Workload
    filling: list[list[Payload]]
    timed: list[list[Payload]]
    checked: list[Payload]

    @property
    def checked_from(self) -> int:
        """The number of the first payment that is checked."""
        return len(self.load) - _CHECKED


@click.command()
@click.option(
    "--small", type=click.IntRange(1_000), default=1_000, show_default=True, help="Payments in the window."
)
@click.option("--large", type=click.IntRange(1_000), default=1_000_000, show_default=True)
@click.option(
    "--micro-batches", type=click.IntRange(10), default=200, show_default=True, help="That are timed."
)
@click.option(
    "--size", type=click.IntRange(10), default=1_000, show_default=True, help="Payments in each of them."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(*, small: int, large: int, micro_batches: int, size: int, seed: int) -> None:
    """Measures what an evaluation costs, whatever the window holds."""
    console = Console(width=150 if not sys.stdout.isatty() else None)
    config = EngineConfig("bench", _TYPE, _TYPE.anchors, 1, (1, 2), "data")
    stream = prepared(config, payments(large + _KEPT_LATER_MS, micro_batches * size, seed), size)
    rows: list[Result] = []
    for function in FUNCTIONS:
        console.print(f"[dim]{function}[/]")
        rows += measured(config, stream, function, small, large)
    results.show(rows, console)
    results.write(rows, paths.var_folder() / "evaluation.json")
    sys.exit(0 if all(result.ok for result in rows) else 1)


def payments(before: int, timed: int, seed: int) -> Workload:
    """So many payments before those that are timed, and a few after them."""
    count, random = before + timed + _CHECKED, np.random.default_rng(seed)
    one, offset = np.ones(count, np.int64), np.arange(count)
    beneficiary, kind = random.integers(0, _BENEFICIARIES, count), random.integers(0, 2, count)
    cents = random.integers(1_00, 1_000_00, count)
    return Workload(1_000, before, one, beneficiary, kind, cents, 0 * one, offset)


def prepared(config: EngineConfig, load: Workload, size: int) -> Stream:
    """The micro-batches of such payments, each with a tick; those of the timed part hold `size`."""
    until = len(load) - _CHECKED
    filling = _batches(config, load, 0, load.preloaded, _FILLED_BY)
    timed = _batches(config, load, load.preloaded, until, size)
    (checked,) = _batches(config, load, until, len(load), _CHECKED)
    return Stream(load, list(filling), list(timed), checked)


def _batches(
    config: EngineConfig, load: Workload, first: int, until: int, size: int
) -> Iterator[list[Payload]]:
    for start in range(first, until, size):
        stop = min(start + size, until)
        times = range(_START + start, _START + stop)
        tick = Payload(
            Kind.TICK, tick_payload(_START + start, json.dumps({"clock": _START + start}).encode()), start
        )
        yield [tick, *packed(config, start, [value for _, value in values(load, start, stop, times)], times)]


def measured(
    config: EngineConfig, stream: Stream, function: Function, small: int, large: int
) -> list[Result]:
    """The rows of one aggregate."""
    with tempfile.TemporaryDirectory(prefix="tripline-evaluation-") as folder:
        subjects = [_subject(function, small), _subject(function, large), None]
        shards = [
            Shard(config, Path(folder) / str(number), subject) for number, subject in enumerate(subjects)
        ]
        for shard in shards:
            shard.publish(1, UNREACHABLE, 0)
            for batch in stream.filling:
                shard.take(batch)
            shard.ms.clear()
            shard.judging_ms.clear()
        for number, batch in enumerate(stream.timed):
            for turn in range(len(shards)):
                shards[(number + turn) % len(shards)].take(batch)
        nothing, without = [0.0] * len(stream.timed), list(shards[2].ms)
        whole, longer = (microseconds(shard.ms, nothing, stream) for shard in shards[:2])
        judging, judging_longer = (microseconds(shard.judging_ms, nothing, stream) for shard in shards[:2])
        more_short, more_long = (microseconds(shard.ms, without, stream) for shard in shards[:2])
        wrong = sum(_wrong(shard, stream) for shard in shards[:2])
    return [
        _compared(f"{function}: one evaluation", judging, judging_longer, large),
        _compared(f"{function}: with all else that its micro-batch takes", whole, longer, large),
        results.told(f"{function}: what the rule adds to its micro-batch", more_long, "µs", more_short),
        results.at_most(f"{function}: of {2 * _CHECKED} values and counts that were checked, wrong", wrong, "", 0),
    ]  # fmt: skip


def _subject(function: Function, held: int) -> Subject:
    return Subject(1, f"{function} of {held}", function, (_ANCHOR,), held // 1_000)


def microseconds(took: Sequence[float], less: Sequence[float], stream: Stream) -> float:
    """Of one payment, by the median micro-batch, each (ms) `less` what another shard took for the same one."""
    checked_per_batch = (stream.checked_from - stream.load.preloaded) / len(stream.timed)
    return (
        statistics.median(ms - other for ms, other in zip(took, less, strict=True))
        * 1_000
        / checked_per_batch
    )


def _compared(name: str, short: float, long: float, large: int) -> Result:
    bar = MOST_RATIO * short
    return results.at_most(f"{name}, {large:,} in the window", long, "µs", bar, reference=short)


def _wrong(shard: Shard, stream: Stream) -> int:
    """Under a limit that everything reaches: how many of the last payments' alerts are missing or tell another value.

    The new version reads the windows that were timed: they belong to grouping, field and length, not to a version.
    """
    assert isinstance(shard.subject, Subject)
    load, first = stream.load, stream.checked_from
    shard.publish(2, _EVERYTHING, _START + first)
    alerts = {number_of(str(_id(alert))): alert for alert in shard.take(stream.checked)}
    held = plainly_held(load, shard.subject, np.arange(first, len(load)))
    wrong = 0
    for probe in range(_CHECKED):
        alert = alerts.get(first + probe)
        told = None if alert is None else (alert["value"], alert["contributors"]["count"])  # type: ignore[index]
        wrong += told != (shard.subject.value(held, probe), int(held.count[probe]))
    return wrong


def _id(alert: dict[str, object]) -> object:
    return alert["transaction"]["transactionId"]  # type: ignore[index]


if __name__ == "__main__":
    main()
