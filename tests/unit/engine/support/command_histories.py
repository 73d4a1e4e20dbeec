"""Histories with commands of operators (decision 0039), by cases small enough to do by hand.

Each is judged in memory, on two shards, with all memory lost before every micro-batch, and with files that two
workers use by turns; all have to say the same.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json, MicroBatch, Record
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_contracts.event_type import EventType

T = 1_700_000_000_000
MINUTE = 60_000
Step = bytes | Record | int
"""A rule event, a payment, or a tick's clock in ms."""


def at(
    offset: int,
    seconds: float,
    amount: str = "1",
    on_record: float | None = None,
    backfill: str | None = None,
    **more: Json,
) -> Record:
    """A payment at T + seconds, on record at T + on_record where that is another time."""
    event_time, later = T + int(1000 * seconds), T + int(1000 * (seconds if on_record is None else on_record))
    return payment(offset, event_time, amount, record_time=later, more=more, backfill=backfill)


def by_payee(
    function: str,
    operator: str,
    limit: str,
    by: tuple[str, ...] = ("payeeId",),
    seconds: int = 60,
    **more: Any,
) -> Draft:
    """By payee, over a minute."""
    return draft(function, operator, limit, by=by, seconds=seconds, **more)


def batches_of(steps: tuple[Step | tuple[Step, ...], ...]) -> list[MicroBatch]:
    """Each step a micro-batch of its own; several steps in a tuple share one."""
    histories = []
    for step in steps:
        together = step if isinstance(step, tuple) else (step,)
        histories.append(
            batch(
                events=[item for item in together if isinstance(item, bytes)],
                ticks=[item for item in together if isinstance(item, int)],
                records=[item for item in together if isinstance(item, Record)],
            )
        )
    return histories


def judged(*steps: Step | tuple[Step, ...], event_type: EventType = TRANSACTION) -> Engine:
    """The engine that has taken these steps, however it was treated."""
    batches = batches_of(steps)
    with tempfile.TemporaryDirectory() as directory:
        engines = [
            Engine(event_type=event_type),
            Engine(2, event_type=event_type),
            Engine(event_type=event_type),
            Engine(1, Path(directory), event_type=event_type),
        ]
        for batch in batches:
            engines[2].forget()
            engines[3].change_worker()
            for engine in engines:
                engine.take(batch)
    for engine in engines[1:]:
        assert said(engine) == said(engines[0])
    return engines[0]


def said(engine: Engine) -> list[Any]:
    key = lambda alert: (alert["ruleId"], alert["transaction"]["transactionId"])  # noqa: E731
    return [
        sorted(engine.alerts(), key=key),
        sorted(engine.rejects()),
        engine.statuses(),
        engine.counts(),
        engine.counters["duplicates"],
        sorted(engine.traces(), key=lambda trace: (trace["ruleId"], trace["offset"])),
    ]


def told(engine: Engine) -> list[tuple[int, str, str]]:
    """Of each alert the rule, the transaction and the value."""
    return [
        (alert["ruleId"], alert["transaction"]["transactionId"], alert["value"]) for alert in engine.alerts()
    ]


def void(registry: Registry, number: int, seconds: float) -> bytes:
    what: dict[str, Json] = {"transactionId": f"t{number}", "eventTime": T + int(1000 * seconds)}
    return registry.control("VOID_TRANSACTION", T, what)
