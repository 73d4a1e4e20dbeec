"""Judges a made-up micro-batch in this process, which compiles every kernel into numba's cache on disk.

Without it the first micro-batch after an installation pays for that, some seconds per worker process. The event type is
made up too: kernels know the kinds of columns, not whose they are.
"""

from __future__ import annotations

import json
import multiprocessing
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from tripline_contracts.event_type import EventType, Field
from tripline_contracts.rules import rule_definition
from tripline_engine.domain.history.deduplication import SeenIds
from tripline_engine.domain.history.text_dictionary import TextDictionary
from tripline_engine.domain.memory.arena import HeapArena
from tripline_engine.domain.memory.row_compaction import shift_row_numbers_down
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING, in_one_pass
from tripline_engine.domain.shard.shard_worker import ShardWorker
from tripline_engine.domain.shard.tick import tick_payload
from tripline_engine.domain.state_log.memory_log import MemoryLog
from tripline_engine.domain.transactions.columns import Texts
from tripline_engine.spark.rows.packing import packer, unpacked

_START: Final = 1_763_690_000_000
_ROWS: Final = 40
# Distinct strings, enough that hash tables grow.
_TEXTS: Final = 300
# Ids, more than one incremental rehash moves.
_MANY: Final = 20_000
# Bytes of a string; three of them overflow a new text dictionary.
_LONG: Final = 1_500
_TYPE: Final = EventType(
    "warm-up",
    1,
    (
        Field("id", "id", "string", required=True, max_length=64),
        Field("at", "time", "timestamp", required=True),
        Field("one", "key", "string", max_length=64),
        Field("another", "key", "string", max_length=64),
        Field("kind", "attribute", "enum", required=True, values=("plain",)),
        Field("where", "attribute", "position"),
        Field("amount", "measure", "decimal", required=True),
        Field("entered", "time", "timestamp", ingestion=True),
    ),
    ("one", "another", "global"),
)
Special = dict[str, Any]
"""Members of a made-up rule that differ from the default rule."""
_MEASURE: Final[Special] = {
    "groupingKeyNames": ["another"],
    "aggregatorFunctionType": "SUM",
    "aggregateFieldName": "amount",
    "windowSeconds": 60,
}
_CONDITION: Final[Special] = {**_MEASURE, "limitOperatorType": ">=", "limit": "1"}
_DEVIATION: Final[Special] = {"aggregatorFunctionType": "STDDEV"}
_IN_DEVIATIONS: Final[Special] = {
    "measure": {**_MEASURE, "aggregatorFunctionType": "AVG", "includeCurrent": False},
    "plusDeviations": "1",
}
_DIFFERENT: Final[Special] = {"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "one"}
_RULES: Final[tuple[Special, ...]] = (
    {"groupingKeyNames": ["one", "another"]},
    {"groupingKeyNames": ["one"], "aggregatorFunctionType": "COUNT", "aggregateFieldName": None},
    {"groupingKeyNames": ["another"], "aggregatorFunctionType": "AVG"},
    {"groupingKeyNames": ["one"], "aggregatorFunctionType": "MAX"},
    {"groupingKeyNames": ["kind"], "aggregatorFunctionType": "MIN"},
    {"groupingKeyNames": ["amount"]},
    {"groupingKeyNames": ["one", {"field": "amount", "step": "10"}]},
    {"groupingKeyNames": [], "aggregatorFunctionType": "COUNT", "aggregateFieldName": None},
    {"aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "one"},
    _DEVIATION,
    {"aggregatorFunctionType": "SECONDS_SINCE_PREVIOUS", "aggregateFieldName": None},
    {"aggregatorFunctionType": "SECONDS_SINCE_FIRST", "aggregateFieldName": None},
    {"aggregatorFunctionType": "SPEED_KMH", "aggregateFieldName": "where"},
    {"resetOnAlert": True},
    {"resetOnAlert": True, "aggregatorFunctionType": "MAX"},
    {"resetOnAlert": True, "aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "one"},
    {"precision": "bucketed(60)", "windowSeconds": 86400, "firing": "crossing"},
    {"firing": "crossing", "cooldownSeconds": 1},
    {"lateEvents": "reevaluate", "limit": "30"},
    {"filter": {"field": "amount", "operator": ">", "value": "1"}},
    {
        "conditions": {
            "all": [
                {**_CONDITION, "limit": {"measure": {**_MEASURE, "aggregatorFunctionType": "AVG"}}},
                {**_CONDITION, **_DIFFERENT, "includeCurrent": False},
                {**_CONDITION, "aggregatorFunctionType": "MAX", "offsetSeconds": 1},
                {**_CONDITION, **_DEVIATION, "offsetSeconds": 1, "limit": _IN_DEVIATIONS},
            ]
        }
    },
    {"filter": {"all": [{"field": "one", "contains": "1"}, {"field": "amount", "multipleOf": "1"}]}},
)
_BUCKETED: Final = "precision"
_WIDER: Final[Special] = {_BUCKETED: "bucketed(60)", "windowSeconds": 172800}
"""Published when the rule's buckets exist already."""
_LATE_COMPILED: Final[tuple[tuple[Special, ...], ...]] = (
    (),
    ({"resetOnAlert": True},),
    ({"precision": "bucketed(60)", "windowSeconds": 86400}, {"lateEvents": "reevaluate", "limit": "30"}),
)
"""Rules of the second process: kernels that the first one compiles in its second half."""


def warm_up_parallel() -> None:
    """The warm-up in two processes: with an empty cache, in little more than half the time.

    numba compiles under one lock, so threads would wait for each other. The other process begins with the kernels that
    this one needs last; each reads from the cache what the other has compiled.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as other:
        begun = [other.submit(warm_up, rules) for rules in _LATE_COMPILED]
        warm_up()
        for rules in begun:
            rules.result()


def warm_up(rules: Sequence[Special] = _RULES) -> int:
    """Judges the made-up micro-batches; returns the number of output records, above 0 if rules were evaluated."""
    config = EngineConfig("warm-up", _TYPE, _TYPE.anchors, 1, (1, 2), "data")
    log = MemoryLog()
    with tempfile.TemporaryDirectory(prefix="tripline-warm-up-") as folder:
        records = 0
        for projection, payloads in _batches(config, rules):
            worker = ShardWorker(config, 0, log, Path(folder) / projection, lambda: _START)
            records += len(worker.process(payloads))
    _grow_large()
    _try_in_order(config)
    return records


def _grow_large() -> None:
    """Kernels that only a large history needs: rehash of the id table, compaction of rows and of strings."""
    ids = SeenIds(HeapArena(), "warm-up")
    for first in (0, _MANY):
        names = np.arange(first, first + _MANY, dtype=np.uint64)
        ids.accept(names, names, np.zeros(_MANY, np.int64), 0, 0)
    shift_row_numbers_down(np.zeros(2, np.int32), 1, 1)
    texts, present = TextDictionary(HeapArena(), "warm-up"), np.ones(1, np.bool_)
    data, offsets = np.zeros(_LONG, np.uint8), np.array([0, _LONG], np.int32)
    for key in np.arange(4, dtype=np.uint64).reshape(4, 1):
        texts.release(texts.intern_texts(Texts(offsets, data, present), key, key))


def _try_in_order(config: EngineConfig) -> None:
    """Kernels that only a backtest needs, whose transactions come in the order of event times."""
    tuning = in_one_pass(DEFAULT_TUNING, ids_are_distinct=True)
    worker = ShardWorker(config, 0, MemoryLog(), None, lambda: _START, {}, tuning)
    worker.process([Payload(Kind.RULE_EVENT, _rule_event(1, _RULES[0]), 0)])
    worker.process(list(_transactions(config, 0, _START, _ROWS, spread=1)))


def _batches(config: EngineConfig, rules: Sequence[Special]) -> Iterator[tuple[str, list[Payload]]]:
    """Micro-batches, each with the folder of the arrays: another one is built again from the state log."""
    yield "first", [Payload(Kind.RULE_EVENT, _rule_event(i + 1, rule), i) for i, rule in enumerate(rules)]
    if any(_BUCKETED in rule for rule in rules):
        yield "first", [Payload(Kind.RULE_EVENT, _rule_event(len(rules) + 1, _WIDER), len(rules))]
    # the second round has late ones; before the fourth, what was is in buckets only; with the last all expires
    for round_, second in enumerate((0, 0, 1, 9000, 9001, 10**7)):
        clock, rows = _START + second * 1000, _TEXTS if round_ == 2 else _ROWS
        tick = Payload(Kind.TICK, tick_payload(clock, json.dumps({"clock": clock}).encode()), round_)
        yield "first" if round_ < 4 else "second", [tick, *_transactions(config, round_, clock, rows)]


def _transactions(
    config: EngineConfig, round_: int, clock: int, rows: int, spread: int = 7
) -> Iterator[Payload]:
    """Transactions of the last so many milliseconds."""
    values = [
        json.dumps(
            {
                "id": f"{round_}-{i}",
                "at": clock - i % spread,
                "one": i % 3,
                "another": i % 2 if i < _ROWS else f"the name of group {i}",
                "amount": i % _ROWS,
                "kind": "plain",
                "where": f"{i % 9}.5,{round_}",
            }
        ).encode()
        for i in range(rows)
    ]
    columns: list[Any] = [
        pa.array([0] * rows, pa.int32()),
        pa.array(range(round_ * _TEXTS, round_ * _TEXTS + rows), pa.int64()),
        pa.array([clock] * rows, pa.int64()),
        pa.array(values, pa.binary()),
    ]
    batch = pa.RecordBatch.from_arrays(columns, ["partition", "offset", "recordTime", "value"])
    for packed in packer(config)(iter([batch])):
        yield from unpacked(packed)


def _rule_event(rule_id: int, special: Special) -> bytes:
    definition = rule_definition.parse(
        special if "conditions" in special else {**_CONDITION, "limit": "1000", **special},
        _TYPE,
    )
    event = {
        "eventId": str(rule_id),
        "type": "RulePublished",
        "position": rule_id,
        "occurredAt": _START,
        "actor": "warm-up",
        "widestWindows": [],
        "ruleId": rule_id,
        "version": 1,
        "definitionVersion": 1,
        "state": "ACTIVE",
        "name": "warm-up",
        "definition": definition.to_json(),
        "definitionHash": definition.hash,
        "effectiveFrom": 0,
    }
    return json.dumps(event).encode()
