"""`python -m bench.retained`: bytes of a payment between the stages, in memory and in the state log, by anchor.

The same payments twice, in this process and without Kafka or Spark: under the benchmark's five rules, and with a rule
more on each anchor that uses every field for as long as the widest rule there. The difference is what is pruned.
Writes var/retained.json; exit code 1 if a bar is missed. `--structures` prints another table and nothing else: the
bytes that a payment touches for the first time, by what they are for.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from bench.figures import results, structures
from bench.figures.results import Result
from bench.workload.rules import FIVE, UNREACHABLE
from bench.workload.workload import PARTITIONS, Workload, make, values
from tripline_contracts.event_type import EventType
from tripline_contracts.event_type_loader import load
from tripline_contracts.rules import rule_definition
from tripline_demo import paths
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.shard.shard_worker import Attached, ShardWorker
from tripline_engine.domain.shard.tick import tick_payload
from tripline_engine.domain.state_log.head import Head
from tripline_engine.domain.state_log.memory_log import MemoryLog
from tripline_engine.spark.rows.packing import packer, unpacked
from tripline_engine.spark.state.blob_log import is_file
from tripline_engine.spark.state.state_log import STATE_FORMATS

MAX_MEMORY, MAX_LOG = 100.0, 60.0
"""Bytes of a payment held on one anchor."""
_TYPE: Final = load("transaction")
_START: Final = 1_700_000_000_000
_STEP_MS: Final = 10_000
_RATE: Final = 5_000
"""Payments a second, where they are looked at by structure."""
_BATCH: Final = 20_000
_UNDECLARED: Final = (
    b',"iban":"DE02120300000000202051","memo":"invoice 4711 of last month","device":{"os":"x","v":[1,2]}}'
)
# Arrays of an anchor that are not its history.
_OTHERS: Final = ("by", "groups", "rule", "ids")


@dataclass(slots=True)
class Held:
    """What is held of an anchor's history: so many payments, so many bytes."""

    rows: int
    memory: int
    logged: int
    log: int


@dataclass(slots=True)
class Run:
    """What came of one set of rules."""

    anchors: dict[str, Held] = field(default_factory=dict)
    judged_ms: list[float] = field(default_factory=list)


@click.command()
@click.option("--rate", type=click.IntRange(10), default=200, show_default=True, help="Payments a second.")
@click.option("--minutes", type=click.IntRange(3), default=75, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@click.option("--structures", "payments", type=click.IntRange(1_000), help="So many, by structure.")
def main(*, rate: int, minutes: int, seed: int, payments: int | None) -> None:
    """Measures what a payment costs between the stages and for as long as it is held."""
    if payments is not None:
        Console(width=150).print(by_structure(payments, seed))
        return
    load_ = make(rate, 60 * minutes * rate, 0, seed)
    config = EngineConfig("bench", _TYPE, _TYPE.anchors, 1, (1, 2), "data")
    rows = _shuffled(config, make(2_000, 2_000, 0, seed))
    five, every = _run(config, load_, _five()), _run(config, load_, [*_five(), *_every_field()])
    for name in config.anchors:
        a, b = five.anchors[name], every.anchors[name]
        rows += [
            results.at_most(
                f"a payment held by {name} (of {a.rows:,}), in memory; reference: every field in use",
                a.memory / a.rows, "bytes", MAX_MEMORY, reference=b.memory / b.rows,
            ),
            results.at_most(
                f"a payment held by {name} (of {a.logged:,}), in the state log",
                a.log / a.logged, "bytes", MAX_LOG, reference=b.log / b.logged,
            ),
        ]  # fmt: skip
    rows += _judged(f"a micro-batch of {rate * _STEP_MS // 1000:,}, processor time", five, every)
    results.show(rows, Console(width=150 if not sys.stdout.isatty() else None))
    results.write(rows, paths.var_folder() / "retained.json")
    sys.exit(0 if all(result.ok for result in rows) else 1)


def _judged(name: str, five: Run, every: Run) -> list[Result]:
    """On average, and the longest ten."""
    (mean, longest), (other_mean, other_longest) = (
        (sum(run.judged_ms) / len(run.judged_ms), sum(sorted(run.judged_ms)[-10:]) / 10)
        for run in (five, every)
    )
    return [
        results.told(f"{name}, mean", mean, "ms", other_mean),
        results.told(f"{name}, the longest ten", longest, "ms", other_longest),
    ]


def _shuffled(config: EngineConfig, load_: Workload) -> list[Result]:
    """As JSON and packed, with the declared fields alone and with others."""
    plain = [value for _, value in values(load_, 0, 2_000, range(_START, _START + 2_000))]
    more = [value[:-1] + _UNDECLARED for value in plain]
    payloads = []
    for name, sent in (("of declared fields", plain), ("with undeclared ones", more)):
        crossing = sum(
            len(parcel.data)
            for parcel in packed(config, 0, sent, [_START] * len(sent))
            if parcel.kind == Kind.TRANSACTIONS
        )
        size = sum(map(len, sent)) / len(sent)
        payloads.append(
            results.told(f"a payment {name} across the shuffle", crossing / len(sent), "bytes", size)
        )
    return payloads


def _run(config: EngineConfig, load_: Workload, rules: list[Payload]) -> Run:
    run, log, attached = Run(), MemoryLog(), Attached()
    with tempfile.TemporaryDirectory(prefix="tripline-retained-") as folder:
        for number, payloads in enumerate([rules, *_batches(config, load_)]):
            worker = ShardWorker(config, 0, log, Path(folder), lambda: _START, attached)
            begin = time.process_time()
            worker.process(payloads)
            if number > 10:  # the first ones load what is compiled
                run.judged_ms.append((time.process_time() - begin) * 1000)
        os.sync()
        head = Head.read(log, _TYPE)
        (projection,) = attached.values()
        for name in config.anchors:
            history, segments = projection.anchors[name].history, head.anchors[name].segments.segments
            kept = (f"segment/{name}/", f"page/{name}/")
            run.anchors[name] = Held(
                rows=history.end - history.base,
                memory=sum(path.stat().st_blocks * 512 for path in _files(Path(folder), name)),
                logged=sum(segment.rows for segment in segments),
                log=sum(_stored(key, data) for key, data in log.items() if key.startswith(kept)),
            )
    return run


def by_structure(payments: int, seed: int) -> Table:
    """What payments touch under the rules by payee and beneficiary: with every anchor kept, and on demand.

    None of them leaves a window meanwhile, so what is held is what has been written for the first time.
    """
    load_ = make(_RATE, payments, 0, seed)
    types = ("all kept", replace(_TYPE, kept_anchors=_TYPE.anchors)), ("on demand", _TYPE)
    runs = [(name, first_touched(event_type, load_)) for name, event_type in types]
    return structures.table(_TYPE.anchors, payments, runs)


def first_touched(event_type: EventType, load_: Workload) -> structures.Touched:
    """Bytes that these payments touch in one shard of events of that type, under those rules."""
    config = EngineConfig("bench", event_type, event_type.anchors, 1, (1, 2), "data")
    log, attached = MemoryLog(), Attached()
    batches = [[published(rule.rule_id, rule.body(UNREACHABLE, 0)) for rule in FIVE[:4]]]
    for start in range(0, len(load_), _BATCH):
        stop = min(start + _BATCH, len(load_))
        times = (_START + np.arange(start, stop) * 1_000 // load_.rate).tolist()
        sent = [value for _, value in values(load_, start, stop, times)]
        batches.append(packed(config, start, sent, times))
    with tempfile.TemporaryDirectory(prefix="tripline-retained-") as folder:
        for payloads in batches:
            ShardWorker(config, 0, log, Path(folder), lambda: _START, attached).process(payloads)
        os.sync()
        sizes = structures.touched(Path(folder) / "shard-0")
    for key, data in log.items():
        kind, _, rest = key.partition("/")
        if kind in ("segment", "page"):
            sizes[rest.partition("/")[0], structures.LOG] += _stored(key, data)
    return sizes


def _stored(key: str, data: bytes) -> int:
    """What an entry takes, in a file or in Spark's state store."""
    return len(data) if is_file(key, data) else len(STATE_FORMATS[max(STATE_FORMATS)].stored(data))


def _files(folder: Path, anchor: str) -> Iterator[Path]:
    for path in (folder / "shard-0").iterdir():
        owner, _, rest = path.name.partition(".")
        if owner == anchor and rest.partition(".")[0] not in _OTHERS:
            yield path


def _batches(config: EngineConfig, load_: Workload) -> Iterator[list[Payload]]:
    size = load_.rate * _STEP_MS // 1000
    for start in range(0, len(load_), size):
        stop, clock = min(start + size, len(load_)), _START + start * 1000 // load_.rate
        times = range(clock, clock + _STEP_MS, 1000 // load_.rate)
        sent = [value for _, value in values(load_, start, stop, list(times)[: stop - start])]
        tick = Payload(Kind.TICK, tick_payload(clock, json.dumps({"clock": clock}).encode()), start)
        yield [tick, *packed(config, start, sent, [clock] * len(sent))]


def packed(config: EngineConfig, first: int, sent: list[bytes], record_times: Sequence[int]) -> list[Payload]:
    """What a shard is sent of these values, as one partition's from offset ``first`` on."""
    columns: list[Any] = [
        pa.array([first % PARTITIONS] * len(sent), pa.int32()),
        pa.array(range(first, first + len(sent)), pa.int64()),
        pa.array(record_times, pa.int64()),
        pa.array(sent, pa.binary()),
    ]
    batch = pa.RecordBatch.from_arrays(columns, ["partition", "offset", "recordTime", "value"])
    return [payload for rows in packer(config)(iter([batch])) for payload in unpacked(rows)]


def _five() -> list[Payload]:
    return [published(rule.rule_id, rule.body(UNREACHABLE, 0)) for rule in FIVE]


def _every_field() -> list[Payload]:
    """For each anchor a rule that looks at every field, over the widest window of the five there."""
    looked_at = [
        {"field": name, "operator": "=", "value": "none"} for name in ("payeeId", "beneficiaryId")
    ] + [
        {"field": "paymentType", "operator": "=", "value": "CSH"},
        {"field": "paymentAmount", "operator": "<", "value": "0"},
        {"field": "ingestionTimestamp", "operator": "<", "value": 0},
    ]
    rows = []
    for number, (grouping, seconds) in enumerate(
        ((["payeeId"], 3_600), (["beneficiaryId"], 300), (["paymentType"], 1_800)), start=len(FIVE) + 1
    ):
        body = {
            "groupingKeyNames": grouping,
            "aggregatorFunctionType": "COUNT",
            "limitOperatorType": ">",
            "limit": "1000000000",
            "windowSeconds": seconds,
            "filter": {"all": looked_at},
        }
        rows.append(published(number, body))
    return rows


def published(
    rule_id: int,
    body: dict[str, object],
    *,
    event_type: EventType = _TYPE,
    position: int | None = None,
    version: int = 1,
    event: str = "RulePublished",
) -> Payload:
    """The event of a rule with this body (see `Subject.body`), as it lies in rules.v1, at that position and offset."""
    definition = rule_definition.parse(
        {k: v for k, v in body.items() if k not in ("name", "effectiveFrom")}, event_type
    )
    log_position = rule_id if position is None else position
    content = {
        "eventId": str(log_position),
        "type": event,
        "position": log_position,
        "occurredAt": _START,
        "actor": "bench",
        "widestWindows": [],
        "ruleId": rule_id,
        "version": version,
        "definitionVersion": version,
        "state": "ACTIVE",
        "name": f"rule {rule_id}",
        "definition": definition.to_json(),
        "definitionHash": definition.hash,
        "effectiveFrom": body.get("effectiveFrom", 0),
    }
    return Payload(Kind.RULE_EVENT, json.dumps(content).encode(), log_position)


if __name__ == "__main__":
    main()
