"""A raw record read as a transaction (semantics 1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.parsers.named_values import NO_NAMED_VALUES, NamedValues
from tests.oracle.values.addresses import address_text, read_address
from tests.oracle.values.decimals import plain, read_decimal
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.event_types import EventType, current_type
from tests.oracle.values.model import Record
from tests.oracle.values.positions import position_text, read_position
from tests.oracle.values.schema import LAST_TIME, LONGEST_TEXT
from tests.oracle.values.strict_json import Numeral, Value, read_integer, read_object

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
    names: NamedValues = field(default=NO_NAMED_VALUES, repr=False)
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
    kind = current_type()
    amount = read_decimal(fields.get(kind.amount), kind.amount)
    return Transaction(
        transaction_id=_transaction_id(fields.get(kind.identity)),
        event_time=read_time(fields.get(kind.time)),
        keys={kind.amount: plain(amount), **{name: _key_of(name, fields, kind) for name in kind.keys}},
        amount=amount,
        ingestion=None if fields.get(kind.ingestion) is None else read_time(fields[kind.ingestion]),
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
        raise Unreadable("no id")
    return text


def _key(value: Value) -> str | None:
    return None if value is None else _identifier(value) or None


def _key_of(name: str, fields: dict[str, Value], kind: EventType) -> str | None:
    """The key under its name or another one of it."""
    if name in kind.enums:
        return _one_of(kind.enums[name], fields.get(name), missing=name in kind.nullable)
    if name in kind.addresses:
        return _address(fields.get(name), missing=name in kind.nullable)
    if name in kind.positions:
        return _position(fields.get(name), missing=name in kind.nullable)
    spellings = (name, *(alias for alias, field in kind.aliases.items() if field == name))
    texts = [text for text in (_key(fields.get(spelling)) for spelling in spellings) if text is not None]
    if len(set(texts)) > 1:
        raise Unreadable(f"{' and '.join(spellings)} differ")
    if not texts and name not in kind.nullable:
        raise Unreadable(f"no {name}")
    return texts[0] if texts else None


def _address(value: Value | None, *, missing: bool) -> str | None:
    if missing and value in (None, ""):
        return None
    if not isinstance(value, str):
        raise Unreadable("no address")
    return address_text(*read_address(value))


def _position(value: Value | None, *, missing: bool) -> str | None:
    if missing and value in (None, ""):
        return None
    if not isinstance(value, str):
        raise Unreadable("no position")
    return position_text(*read_position(value))


def read_time(value: Value | None) -> int:
    """An integer of ms since the epoch up to the year 9999, or Unreadable."""
    time = read_integer(value, "time")
    if not 0 <= time <= LAST_TIME:
        raise Unreadable("time out of range")
    return time


def _one_of(words: tuple[str, ...], value: Value | None, *, missing: bool) -> str | None:
    if missing and value is None:
        return None
    if isinstance(value, str) and value in words:
        return value
    raise Unreadable(f"none of {', '.join(words)}")
