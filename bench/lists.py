"""`python -m bench.lists`: what a long named list costs an engine, in memory, in the state log and in time.

One shard in this process, without Kafka or Spark: a list of as many entries as are asked for, added as an import adds
them, 10,000 to an event; then changes of one entry, and payments held against the list by a rule's filter, beside a
shard with a list of ten. Memory is what the process has more than before, all that Python keeps included.
Writes var/lists.json; exit code 1 if a bar is missed.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from bench.figures import results
from bench.figures.results import Result
from bench.retained import packed, published
from bench.workload.workload import Workload, make, values
from tripline_contracts.event_type_loader import load
from tripline_demo import paths
from tripline_engine.domain.memory import malloc_trim
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.shard.shard_worker import Attached, ShardWorker
from tripline_engine.domain.shard.tick import tick_payload
from tripline_engine.domain.state_log.memory_log import MemoryLog

MAX_MEMORY, MAX_LOG = 40.0, 40.0
"""Bytes of an entry of twelve characters."""
MOST_RATIO: Final = 1.5
MAX_CHANGE_MS: Final = 100.0
"""Of a change of one entry: a fifth of what a change of a rule may take until it is applied."""
_TYPE: Final = load("transaction")
_START: Final = 1_700_000_000_000
_PER_EVENT: Final = 10_000
_CHANGES: Final = 30
_WARM: Final = 10


@dataclass(slots=True)
class Shard:
    """A shard of its own with one list, and the events and payments that it has taken."""

    config: EngineConfig
    folder: Path
    log: MemoryLog = field(default_factory=MemoryLog)
    attached: Attached = field(default_factory=dict)
    position: int = 0
    offset: int = 0

    def take(self, payloads: Sequence[Payload]) -> float:
        """Processor time of the micro-batch, in ms."""
        worker = ShardWorker(self.config, 0, self.log, self.folder, lambda: _START, self.attached)
        begin = time.process_time()
        worker.process(payloads)
        assert not worker.counters["unreadable_rule_events"]
        return (time.process_time() - begin) * 1_000

    def add(self, entries: Sequence[str]) -> float:
        """Adds the entries in one event."""
        return self.take([self._event({"added": [{"value": value} for value in entries], "removed": []})])

    def publish(self) -> float:
        """Publishes a rule that looks into the list."""
        self.position += 1
        body: dict[str, object] = {
            "groupingKeyNames": ["beneficiaryId"],
            "aggregatorFunctionType": "COUNT",
            "limitOperatorType": ">",
            "limit": "1000000000",
            "windowSeconds": 60,
            "filter": {"field": "payeeId", "in": {"list": "watched"}},
        }
        return self.take([published(1, body, position=self.position, version=self.position)])

    def judge(self, load_: Workload, size: int) -> Iterator[float]:
        """Takes the payments in micro-batches."""
        for start in range(0, len(load_), size):
            clock = _START + self.offset
            times = range(clock, clock + size)
            sent = [value for _, value in values(load_, start, start + size, times)]
            tick = Payload(Kind.TICK, tick_payload(clock, json.dumps({"clock": clock}).encode()), self.offset)
            yield self.take([tick, *packed(self.config, self.offset, sent, [clock] * size)])
            self.offset += size

    @property
    def logged_bytes(self) -> int:
        """The list's in the state log."""
        return sum(len(data) for key, data in self.log.items() if key.startswith("lists/"))

    @property
    def listed_bytes(self) -> int:
        """What look-ups hold of the list."""
        (projection,) = self.attached.values()
        return projection.book.named.list("watched").bytes

    def _event(self, members: dict[str, object]) -> Payload:
        self.position += 1
        event = {
            "eventId": str(self.position),
            "type": "ListEntriesChanged",
            "position": self.position,
            "occurredAt": _START,
            "actor": "bench",
            "widestWindows": [],
            "name": "watched",
            "version": self.position,
            **members,
        }
        return Payload(Kind.RULE_EVENT, json.dumps(event).encode(), self.position)


@click.command()
@click.option("--entries", type=click.IntRange(1_000), default=1_000_000, show_default=True)
@click.option(
    "--micro-batches", type=click.IntRange(10), default=100, show_default=True, help="That are timed."
)
@click.option("--size", type=click.IntRange(10), default=1_000, show_default=True, help="Payments in each.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(*, entries: int, micro_batches: int, size: int, seed: int) -> None:
    """Measures what a long list costs an engine."""
    config = EngineConfig("bench", _TYPE, _TYPE.anchors, 1, (1, 2), "data")
    with tempfile.TemporaryDirectory(prefix="tripline-lists-") as folder:
        short, long = Shard(config, Path(folder) / "short"), Shard(config, Path(folder) / "long")
        short.add([_entry(i) for i in range(10)])
        rows = [*_imported(long, entries), *_read_again(long)]
        short.publish()
        long.publish()
        rows += _changed(short, long, entries)
        rows += _judged(short, long, make(1_000, (micro_batches + _WARM) * size, 0, seed), size)
    results.show(rows, Console(width=150 if not sys.stdout.isatty() else None))
    results.write(rows, paths.var_folder() / "lists.json")
    sys.exit(0 if all(result.ok for result in rows) else 1)


def _entry(number: int) -> str:
    return f"entry-{number:06}"


def _imported(shard: Shard, entries: int) -> list[Result]:
    shard.add([_entry(0)])
    before = _resident_bytes()
    took = [
        shard.add([_entry(i) for i in range(first, min(first + _PER_EVENT, entries))])
        for first in range(0, entries, _PER_EVENT)
    ]
    memory = _resident_bytes() - before
    # the log of this process stands in for the state store, and is no part of what the engine holds
    memory -= shard.logged_bytes
    return [
        results.at_most(
            "an entry, in memory for look-ups", shard.listed_bytes / entries, "bytes", MAX_MEMORY
        ),
        results.told("an entry, all that the process has more", memory / entries, "bytes"),
        results.at_most("an entry, in the state log", shard.logged_bytes / entries, "bytes", MAX_LOG),
        results.told(f"{entries:,} entries added by {len(took):,} events", sum(took) / 1_000, "s"),
        results.told(f"an event of {_PER_EVENT:,} entries, the longest", max(took), "ms"),
    ]


def _read_again(shard: Shard) -> list[Result]:
    """As a worker process does that has not seen the list."""
    fresh = Shard(shard.config, shard.folder.with_name("fresh"), shard.log, position=shard.position)
    return [results.told("the list read by another process", fresh.take([]) / 1_000, "s")]


def _changed(short: Shard, long: Shard, entries: int) -> list[Result]:
    took: dict[str, list[float]] = {"short": [], "long": [], "rule": []}
    for i in range(_CHANGES + _WARM):
        for name, shard in (("short", short), ("long", long)):
            took[name].append(shard.add([f"new {i}"]))
        took["rule"].append(long.publish())
    few, many, rule = (statistics.median(took[name][_WARM:]) for name in ("short", "long", "rule"))
    return [
        results.at_most(
            f"a change of one of {entries:,} entries; reference: of ten", many, "ms", MAX_CHANGE_MS, reference=few
        ),
        results.told("the longest of these changes", max(took["long"][_WARM:]), "ms"),
        results.told("a new version of a rule beside that list", rule, "ms"),
    ]  # fmt: skip


def _judged(short: Shard, long: Shard, load_: Workload, size: int) -> list[Result]:
    both = zip(short.judge(load_, size), long.judge(load_, size), strict=True)
    few, many = zip(*list(both)[_WARM:], strict=True)
    name = f"a micro-batch of {size:,} held against the list; reference: a list of ten"
    reference = statistics.median(few)
    return [results.at_most(name, statistics.median(many), "ms", MOST_RATIO * reference, reference=reference)]


def _resident_bytes() -> int:
    gc.collect()
    malloc_trim.trim_allocators()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


if __name__ == "__main__":
    main()
