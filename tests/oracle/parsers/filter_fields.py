"""What filters look at: the fields of a transaction, their kinds and their values (semantics 1 and 2)."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tests.oracle.parsers.transactions import Transaction
from tests.oracle.values.addresses import address_text, read_address
from tests.oracle.values.decimals import read_decimal
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.event_types import current_type
from tests.oracle.values.positions import position_text, read_position
from tests.oracle.values.schema import LAST_TIME, LONGEST_TEXT
from tests.oracle.values.strict_json import Numeral, Value, read_integer, read_text

Constant: TypeAlias = "int | str"


def read_field(value: Value | None) -> str:
    """The name of a field that filters may look at."""
    written = read_text(value, "field")
    name = current_type().aliases.get(written, written)
    if name not in (*current_type().numbers, *current_type().keys):
        raise Unreadable(f"no filter on {name}")
    return name


def read_constant(field: str, value: Value) -> Constant:
    """A value that the field can have: an amount in millionths, a time in ms, a text."""
    if field == current_type().amount:
        return read_decimal(value, field)
    if field in current_type().numbers:
        time = read_integer(value, field)
        if not 0 <= time <= LAST_TIME:
            raise Unreadable("time out of range")
        return time
    if field in current_type().addresses:
        return address_text(*read_address(read_text(value, field)))
    if field in current_type().positions:
        return position_text(*read_position(read_text(value, field)))
    text = str(read_integer(value, field)) if isinstance(value, Numeral) else read_text(value, field)
    if text not in current_type().enums.get(field, (text,)):
        raise Unreadable(f"unknown {field}")
    if not 1 <= len(text) <= LONGEST_TEXT or "\0" in text:
        raise Unreadable("no transaction has such a text")
    return text


def value_of(field: str, transaction: Transaction) -> Constant | None:
    """The transaction's value of the field, in the form of a constant."""
    kind = current_type()
    if field == kind.amount:
        return transaction.amount
    if field == kind.time:
        return transaction.event_time
    return transaction.ingestion if field == kind.ingestion else transaction.keys[field]


def kind_of(field: str) -> Literal["amount", "time", "enum", "text", "address"]:
    """What the values of the field are."""
    if field in current_type().numbers:
        return "amount" if field == current_type().amount else "time"
    if field in current_type().addresses:
        return "address"
    return "enum" if field in current_type().enums else "text"
