"""A raw record read as a transaction (semantics 1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.decimals import plain, read_decimal
from tests.oracle.errors import Unreadable
from tests.oracle.model import Record
from tests.oracle.names import NO_NAMES, Names
from tests.oracle.schema import LAST_TIME, LONGEST_TEXT, PAYMENT_TYPES
from tests.oracle.strict_json import Numeral, Value, read_integer, read_object

_LARGEST_VALUE = 65_536


@dataclass(frozen=True, slots=True)
class Transaction:
    """A parsed record. `keys` holds the groupable fields as text; amount is in millionths, times in ms.

    `names` are the lists and parameters when it was accepted: they settle for ever what it passes. What is
    `backfilled` counts, and is never judged.
    """

    transaction_id: str
    event_time: int
    keys: dict[str, str | None]
    amount: int
    ingestion: int | None
    record_time: int
    names: Names = field(default=NO_NAMES, repr=False)
    backfilled: bool = False


def read_transaction(record: Record) -> Transaction:
    """The transaction in a record; Unreadable with the reject reason as its text."""
    if record.value is not None and len(record.value) > _LARGEST_VALUE:
        raise Unreadable("oversized")
    try:
        return _parse(record)
    except Unreadable as error:
        raise Unreadable("unparseable") from error


def _parse(record: Record) -> Transaction:
    if record.value is None:
        raise Unreadable("tombstone")
    fields = read_object(record.value)
    amount = read_decimal(fields.get("paymentAmount"), "paymentAmount")
    return Transaction(
        transaction_id=_transaction_id(fields.get("transactionId")),
        event_time=read_time(fields.get("eventTime")),
        keys={
            "beneficiaryId": _key(fields.get("beneficiaryId")),
            "payeeId": _payee(fields),
            "paymentAmount": plain(amount),
            "paymentType": _payment_type(fields.get("paymentType")),
        },
        amount=amount,
        ingestion=None
        if fields.get("ingestionTimestamp") is None
        else read_time(fields["ingestionTimestamp"]),
        record_time=record.record_time,
        backfilled=record.backfill is not None,
    )


def _identifier(value: Value) -> str:
    """String or integer as text of 0 to 64 code points."""
    if isinstance(value, Numeral) and value.integer:
        text = "0" if value.text == "-0" else value.text
    elif isinstance(value, str):
        text = value
    else:
        raise Unreadable("neither string nor integer")
    if len(text) > LONGEST_TEXT or "\0" in text:
        raise Unreadable("too long, or holds U+0000")
    return text


def _transaction_id(value: Value) -> str:
    text = _identifier(value)
    if not text:
        raise Unreadable("no transactionId")
    return text


def _key(value: Value) -> str | None:
    return None if value is None else _identifier(value) or None


def _payee(fields: dict[str, Value]) -> str | None:
    names = [text for text in (_key(fields.get("payeeId")), _key(fields.get("payerId"))) if text is not None]
    if len(set(names)) > 1:
        raise Unreadable("payeeId and payerId differ")
    return names[0] if names else None


def read_time(value: Value | None) -> int:
    """An integer of ms since the epoch up to the year 9999, or Unreadable."""
    time = read_integer(value, "time")
    if not 0 <= time <= LAST_TIME:
        raise Unreadable("time out of range")
    return time


def _payment_type(value: Value) -> str:
    if isinstance(value, str) and value in PAYMENT_TYPES:
        return value
    raise Unreadable("unknown paymentType")
