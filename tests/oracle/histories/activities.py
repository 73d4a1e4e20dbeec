"""A random history of payments told as one of activities: kinds of event, and fields that are null for some of them.

Account and one of two keys that may be null stand for payer and beneficiary, whichever the seed says, and one of the
enums, two of which may be null, for the kind of payment; the others are drawn. A payment without the account becomes a
record that nobody accepts.
"""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from zlib import crc32

from tests.oracle.histories.authorisations import retold_events
from tests.oracle.values.event_types import ACTIVITIES
from tests.oracle.values.model import MicroBatch, Record

_KEYS = ("accountId", "beneficiaryId", "deviceId")
_NULLABLE = ("logInResult", "profilePart")
_POOLS = {
    **ACTIVITIES.enums,
    **dict.fromkeys(_KEYS, ("25", "12", "z", "bank é")),
    "ipAddress": ("10.0.0.1", "2001:DB8:0::1"),
}
_NULLS = 3
"""Of eight draws so many are null, where the field may be."""


def as_activities(seed: int, history: list[MicroBatch]) -> list[MicroBatch]:
    """The history, always the same for a seed."""
    draw = Random(f"activities {seed}")
    first, second = draw.sample(_KEYS, 2)
    enum = draw.choice(("kind", *_NULLABLE))
    low, high = ACTIVITIES.enums[enum][:2]
    words = {
        "transactionId": "activityId",
        "eventTime": "happenedAt",
        "paymentAmount": "amount",
        "paymentType": enum,
        "CSH": low,
        "CRD": high,
        "payeeId": first,
        "payerId": first,
        "beneficiaryId": second,
    }
    missing = [name for name in _POOLS if name not in words.values()]
    return retold_events(history, words, lambda record, told: _record(record, told, missing))


def _record(record: Record, told: bytes, missing: list[str]) -> Record:
    drawn = crc32(record.value or b"")
    members = b"".join(
        b'"%s":%s,' % (name.encode(), _drawn(name, drawn >> 3 * i)) for i, name in enumerate(missing)
    )
    before, brace, after = told.partition(b"{")
    whole = brace and not before.strip() and after.strip() not in (b"", b"}")
    return replace(record, value=before + brace + members + after if whole else told)


def _drawn(name: str, number: int) -> bytes:
    if name in ACTIVITIES.nullable and number % 8 < _NULLS:
        return b"null"
    return json.dumps(_POOLS[name][number % len(_POOLS[name])]).encode()
