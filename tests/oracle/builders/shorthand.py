"""Short ways to write a history by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import count
from typing import TypeAlias

from tests.oracle.builders.drafts import Draft
from tests.oracle.values.decimals import scaled
from tests.oracle.values.model import Json, MicroBatch, Record
from tests.oracle.values.schema import AMOUNT

Part: TypeAlias = "bytes | Record | float"


def draft(
    function: str = "SUM",
    operator: str = ">",
    limit: str = "1000",
    *,
    by: tuple[str, ...] = ("beneficiaryId", "payeeId"),
    seconds: int = 1200,
    only: Json = None,
    firing: str = "every",
    late_events: str = "evaluate",
    reset: bool = False,
    field: str = AMOUNT,
    cooldown: int | None = None,
    parameter: str | None = None,
    bucket: int | None = None,
    step: str | None = None,
) -> Draft:
    """A definition; limit as decimal text, times in seconds, `only` the filter, `field` what is aggregated.

    With a `parameter` that is the limit, with a `bucket` its length, with a `step` the amount groups in steps.
    """
    return Draft(
        tuple(sorted(by)),
        function,
        operator,
        scaled(limit),
        seconds,
        condition=only,
        firing=firing,
        late_events=late_events,
        reset_on_alert=reset,
        field=field,
        cooldown=cooldown,
        parameter=parameter,
        bucket=bucket,
        step=step,
    )


def payment(
    offset: int,
    event_time: int,
    amount: str = "1",
    *,
    record_time: int | None = None,
    partition: int = 0,
    more: Mapping[str, Json] | None = None,
    backfill: str | None = None,
) -> Record:
    """A record from payee 25 to beneficiary 12 whose id is `t<offset>`, unless `more` says otherwise."""
    fields: dict[str, Json] = {
        "transactionId": f"t{offset}",
        "eventTime": event_time,
        "payeeId": 25,
        "beneficiaryId": 12,
        "paymentAmount": amount,
        "paymentType": "CSH",
        **(more or {}),
    }
    time = event_time if record_time is None else record_time
    return Record(partition, offset, time, json.dumps(fields).encode(), backfill)


def batch(
    *, events: Iterable[bytes] = (), ticks: Iterable[int] = (), records: Iterable[Record] = ()
) -> MicroBatch:
    """A micro-batch; ticks as clock values in ms."""
    return MicroBatch(tuple(events), tuple(b'{"clock":%d}' % tick for tick in ticks), tuple(records))


def one_by_one(start: int, *parts: Part) -> list[MicroBatch]:
    """Each a micro-batch of its own; a number is a tick, in seconds after `start`. Rule events get positions anew."""
    batches: list[MicroBatch] = []
    positions = count(1)
    for part in parts:
        if isinstance(part, bytes):
            raw = json.dumps({**json.loads(part), "position": next(positions)}).encode()
            batches.append(batch(events=[raw]))
        elif isinstance(part, Record):
            batches.append(batch(records=[part]))
        else:
            batches.append(batch(ticks=[start + round(1000 * part)]))
    return batches
