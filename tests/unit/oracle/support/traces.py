"""Definitions, payments and trace records for the cases of traces."""

from __future__ import annotations

from typing import Any

from tests.oracle import MicroBatch, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
MINUTE = 60_000
FAR = T + 10**9


def count(limit: int = 1, **more: Any) -> Draft:
    """By payee, over a minute."""
    return draft("COUNT", ">=", str(limit), by=("payeeId",), seconds=60, **more)


def pay(offset: int, after: int = 0, *, accepted: int | None = None, **more: Json) -> Record:
    """A payment at T + after, on record at T + accepted, both in ms."""
    return payment(offset, T + after, record_time=T + (after if accepted is None else accepted), more=more)


def rows(batches: list[MicroBatch], *names: str) -> list[object]:
    """The named members of each trace record; of one name its value alone."""
    trace_rows: list[object] = []
    for trace in judge(batches).traces:
        values = tuple(trace[name] for name in names)
        trace_rows.append(values[0] if len(values) == 1 else values)
    return trace_rows


def with_trace(what: Draft, *records: Record) -> MicroBatch:
    """One micro-batch in which a rule is published, then traced for good."""
    registry = Registry()
    return batch(events=[registry.publish(1, what, 0, 0), registry.trace(1, FAR, 0)], records=records)
