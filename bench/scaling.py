"""`python -m bench.scaling`: what a payment costs in packing and in each shard, by their number, and with a hot key.

In this process, one shard after the other, without Kafka or Spark, so it is processor time and nothing else: what
docs/scaling.md computes a cluster from. A micro-batch is as long as its busiest shard, so the ratio of all work to that
one's says how many cores help.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from bench.retained import published
from bench.throughput import RULES, workload
from bench.workload.rules import FIVE, UNREACHABLE, Subject
from bench.workload.workload import PARTITIONS, Workload, values
from tripline_contracts.event_type import GLOBAL_ANCHOR
from tripline_contracts.event_type_loader import load
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.shard.shard_worker import Attached, ShardWorker
from tripline_engine.domain.state_log.memory_log import MemoryLog
from tripline_engine.spark.rows.packing import packer
from tripline_engine.spark.rows.shard_keys import shard_keys

_TYPE: Final = load("transaction")
_START: Final = 1_700_000_000_000
_POPULATION: Final = 100_000
_WARM_UP: Final = 4
"""Micro-batches that load kernels and make arrays, and are not timed."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds of processor time for a payment: packing it, in all shards, and in the busiest one."""

    packing: float
    shards: float
    busiest: float


@click.command()
@click.option("--payments", type=click.IntRange(50_000), default=600_000, show_default=True)
@click.option("--per-batch", type=click.IntRange(100), default=20_000, show_default=True)
@click.option("--shards", multiple=True, type=click.IntRange(1), default=(1, 2, 4, 8, 16), show_default=True)
@click.option("--hot", type=click.FloatRange(0, 1), default=0.5, show_default=True, help="One payee's share.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(*, payments: int, per_batch: int, shards: tuple[int, ...], hot: float, seed: int) -> None:
    """Prints a table of processor time for a payment."""
    even = workload(payments, _POPULATION, seed)
    table = Table("traffic and rules", "shards", "packing", "all shards", "busiest shard", "cores that help")
    for name, load_, rules in (
        ("even, no rule on the global anchor", even, RULES),
        ("even, one rule on the global anchor", even, FIVE),
        (f"{hot:.0%} by one payee, no rule on the global anchor", _with_hot_payee(even, hot, seed), RULES),
    ):
        for count in shards:
            cost = measured(load_, rules, count, per_batch)
            figures = (cost.packing, cost.shards, cost.busiest)
            table.add_row(
                name, str(count), *(f"{us:.2f} µs" for us in figures), f"{cost.shards / cost.busiest:.1f}"
            )
    Console(width=130).print(table)


def measured(load_: Workload, rules: Sequence[Subject], shards: int, per_batch: int) -> Cost:
    """All payments through packing and every shard."""
    config = EngineConfig("bench", _TYPE, _TYPE.anchors, shards, (1, 2), "data")
    logs, attached = [MemoryLog() for _ in range(shards)], [Attached() for _ in range(shards)]
    packing, judging, timed = 0.0, np.zeros(shards), 0
    with tempfile.TemporaryDirectory(prefix="tripline-scaling-") as folder:

        def judge(shard: int, payloads: list[Payload]) -> float:
            worker = ShardWorker(config, shard, logs[shard], Path(folder), lambda: _START, attached[shard])
            begin = time.process_time()
            worker.process(payloads)
            return time.process_time() - begin

        needed = {
            next((name for name in _TYPE.anchors if name in rule.grouping), GLOBAL_ANCHOR) for rule in rules
        }

        events = [
            published(rule.rule_id, rule.body(UNREACHABLE, 0), position=position)
            for position, rule in enumerate(rules, start=1)
        ]
        for shard in range(shards):
            judge(shard, events)
        for number, start in enumerate(range(0, len(load_), per_batch)):
            stop = min(start + per_batch, len(load_))
            records = list(_records(load_, start, stop))
            begin = time.process_time()
            by_shard = _packed(config, records, needed)
            packed = time.process_time() - begin
            took = [judge(shard, payloads) for shard, payloads in enumerate(by_shard)]
            if number >= _WARM_UP:
                packing, judging, timed = packing + packed, judging + took, timed + stop - start
    return Cost(*(float(seconds) / timed * 1e6 for seconds in (packing, judging.sum(), judging.max())))


def _with_hot_payee(load_: Workload, share: float, seed: int) -> Workload:
    """The same payments, so many of them by payee 0, in whatever partition they were."""
    hot = np.random.default_rng(seed + 1).random(len(load_)) < share
    fields = {name: getattr(load_, name) for name in load_.__slots__}
    return Workload(**{**fields, "payee": np.where(hot, 0, load_.payee)})


def _records(load_: Workload, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """The micro-batch as Kafka's partitions have it."""
    times = (_START + np.arange(start, stop) * 1_000 // load_.rate).tolist()
    sent = list(values(load_, start, stop, times))
    for partition in range(PARTITIONS):
        mine = [index for index, (where, _) in enumerate(sent) if where == partition]
        columns: list[Any] = [
            pa.array([partition] * len(mine), pa.int32()),
            pa.array(load_.offset[start:stop][mine]),
            pa.array([times[index] for index in mine], pa.int64()),
            pa.array([sent[index][1] for index in mine], pa.binary()),
        ]
        yield pa.RecordBatch.from_arrays(columns, ["partition", "offset", "recordTime", "value"])


def _packed(config: EngineConfig, records: list[pa.RecordBatch], needed: set[str]) -> list[list[Payload]]:
    by_shard: list[list[Payload]] = [[] for _ in range(config.shards)]
    numbers = {key: shard for shard, key in enumerate(shard_keys(config.shards))}
    for partition in records:
        for packed in packer(config, wanted=lambda: needed)(iter([partition])):
            for row in packed.to_pylist():
                payload = Payload(Kind(row["kind"]), row["payload"], row["position"])
                by_shard[numbers[row["shardKey"]]].append(payload)
    return by_shard


if __name__ == "__main__":
    main()
