"""A record of rejected-transactions.v1, as the engine writes it and as it should not come."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from alert_api.domain.rejected_records import RecordPlace
from alert_api.service.records import Record
from alert_api.service.rejected.reading import ReceivedReject, UnreadableReject, read_reject
from tripline_contracts import schemas
from tripline_engine.domain.shard.kafka_records import reject_record

CHECK = schemas.validator("rejected-transactions.v1")
NOW = 1_763_690_000_123


def record(value: bytes = b"{", **headers: bytes | None) -> Record:
    """As the engine makes it, with other headers in place of some."""
    made = reject_record(value, "unparseable", "not JSON", 1, 42, len(value), sha256(value).hexdigest(), NOW)
    kept = {**dict(made.headers), **headers}
    return Record(
        made.topic, 0, 7, None, made.value, headers={k: v for k, v in kept.items() if v is not None}
    )


def test_it_is_read_as_the_engine_writes_it() -> None:
    assert read_reject(record(b"\x00\xff"), CHECK) == ReceivedReject(
        "transactions.v1", RecordPlace(1, 42), "unparseable", "not JSON", 2, sha256(b"\x00\xff").hexdigest(),
        b"\x00\xff", NOW,
    )  # fmt: skip
    assert read_reject(replace(record(), value=None), CHECK).value is None  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "headers",
    [
        {"reason": None}, {"reason": b"because"}, {"partition": b"-1"}, {"partition": b"01"}, {"offset": b"x"},
        {"sha256": b"00"}, {"length": b"many"}, {"detail": b"\xff"}, {"ce_time": b"yesterday"}, {"ce_time": None},
        {"offset": b"9" * 30},
    ],
    ids=str,
)  # fmt: skip
def test_anything_else_is_set_aside(headers: dict[str, Any]) -> None:
    assert isinstance(read_reject(record(**headers), CHECK), UnreadableReject)


def test_more_than_the_engine_hands_on_is_set_aside() -> None:
    assert isinstance(read_reject(record(b"x" * (512 * 1024 + 1)), CHECK), UnreadableReject)


def test_what_postgres_cannot_hold_is_replaced() -> None:
    read = read_reject(record(detail=b"a\x00b"), CHECK)
    assert isinstance(read, ReceivedReject)
    assert read.detail == "a?b"
