"""The tasks of a backtest on Spark, run here one after the other, with what Spark does between them."""

from __future__ import annotations

import pickle
from collections import defaultdict
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec
import pyarrow as pa
from pyspark import cloudpickle

from tripline_engine.backtest.on_spark.grid_tasks import reading
from tripline_engine.backtest.on_spark.plan import Plan
from tripline_engine.backtest.on_spark.work import ALERT, JUDGED, PACKED, REPORT, rows_of, single_rows


@dataclass(slots=True)
class Outcome:
    """What the job says.

    :ivar alerts: in its order
    """

    alerts: list[dict[str, Any]] = field(default_factory=list)
    transactions: int = 0
    kinds: set[int] = field(default_factory=set)


def sent(told: object) -> bytes:
    """As Spark sends what tasks are told."""
    data: bytes = cloudpickle.dumps(told)  # type: ignore[no-untyped-call]
    return data


def run_tasks(plan: Plan, draw: Random) -> Outcome:
    """Each task is sent as Spark sends it. Each reads twice, and says the same; rows arrive in any order."""
    read, judge = (
        pickle.loads(sent(task))  # our own
        for task in (reading(plan.work, plan.source), plan.judging(plan.work))
    )
    by_key: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for unit in range(plan.source.count):
        number = pa.RecordBatch.from_pydict({"id": pa.array([unit])})
        rows = list(single_rows(read([number])))
        assert rows == list(single_rows(read([number]))), "a task that is repeated"
        for row in rows:
            by_key[row[0]].append(row)
    told, outcome = list[tuple[Any, ...]](), Outcome()
    for rows in by_key.values():
        draw.shuffle(rows)
        told += single_rows(judge([rows_of(PACKED, [row]) for row in rows]))
    for kind, _, _, payload in sorted(told, key=lambda row: row[:3]):
        outcome.kinds.add(kind)
        if kind == ALERT:
            outcome.alerts.append(msgspec.json.decode(payload))
        elif kind == JUDGED:
            outcome.transactions += msgspec.json.decode(payload)[1]
        else:
            assert kind == REPORT
    return outcome
