"""Reading a record of rejected-transactions.v1: headers say what was not accepted and why, the value is what it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from alert_api.domain.rejected_records import RecordPlace
from alert_api.service.records import Record
from alert_api.service.rejected.desk import MAX_VALUE_BYTES
from tripline_contracts.errors import SchemaViolation

TEXTS = ("reason", "detail", "topic", "partition", "offset", "length", "sha256")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LONGEST_DETAIL = 2000


@dataclass(frozen=True, slots=True)
class ReceivedReject:
    """A record that the engine did not accept. `rejected_at` in ms since the epoch; the rest as in `RejectedRecord`."""

    topic: str
    place: RecordPlace
    cause: str
    detail: str
    length: int
    sha256: str
    value: bytes | None
    rejected_at: int


@dataclass(frozen=True, slots=True)
class UnreadableReject:
    """A record of the topic that is no rejection, and why; safe to log."""

    record: Record
    detail: str


def read_reject(record: Record, check: Callable[[object], None]) -> ReceivedReject | UnreadableReject:
    """`check` raises SchemaViolation for headers and value that do not keep the topic's schema."""
    try:
        return _read(record, check)
    except (SchemaViolation, UnicodeDecodeError, ValueError, KeyError) as error:
        return UnreadableReject(record, f"{type(error).__name__}: {error}"[:500])


def _read(record: Record, check: Callable[[object], None]) -> ReceivedReject:
    headers = {name: record.headers[name].decode("utf-8") for name in (*TEXTS, "ce_time")}
    # The value may be anything, so it is not among what is checked: of raw bytes only the length can be wrong.
    check({"headers": {name: headers[name] for name in TEXTS}, "valueBase64": None})
    record_place = RecordPlace.parse(f"{headers['partition']}-{headers['offset']}")
    if record_place is None or record.length > MAX_VALUE_BYTES:
        raise ValueError(f"expected a place and at most {MAX_VALUE_BYTES} bytes; these are {record.length}")
    return ReceivedReject(
        topic=headers["topic"],
        place=record_place,
        cause=headers["reason"],
        detail=_UNSTORABLE.sub("?", headers["detail"])[:_LONGEST_DETAIL],
        length=int(headers["length"]),
        sha256=headers["sha256"],
        value=record.value,
        rejected_at=round(datetime.fromisoformat(headers["ce_time"]).timestamp() * 1000),
    )
