"""Payments and histories on a timeline from T on: each rule event, tick and payment is a micro-batch of its own."""

from __future__ import annotations

from tests.oracle import Outcome, Record
from tests.oracle.builders.shorthand import batch, payment
from tests.oracle.values.model import Json, MicroBatch
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000


def pay(
    offset: int, seconds: float, amount: str = "1", accepted: float | None = None, **more: Json
) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(
        offset, T + int(1000 * seconds), amount, record_time=T + int(1000 * later), more=dict(more)
    )


def play(*parts: bytes | Record | int) -> Outcome:
    """Rule events, ticks and payments, each a micro-batch of its own."""
    batches: list[MicroBatch] = []
    for part in parts:
        if isinstance(part, bytes):
            batches.append(batch(events=[part]))
        else:
            batches.append(batch(ticks=[part]) if isinstance(part, int) else batch(records=[part]))
    return judge(batches)
