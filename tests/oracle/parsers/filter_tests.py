"""Tests of a filter that compare with no constant (semantics 10): parsed, and evaluated for one transaction."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeAlias
from zoneinfo import ZoneInfo

from tests.oracle.parsers.filter_fields import kind_of, read_constant, read_field, value_of
from tests.oracle.parsers.transactions import Transaction
from tests.oracle.values.addresses import is_within, read_network
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.event_types import current_type
from tests.oracle.values.strict_json import Value, read_text

_COMPARED: dict[str, Callable[[object, object], bool]] = {"=": operator.eq, "!=": operator.ne}
_ORDERED: dict[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_PARTS: dict[str, Callable[[str, str], bool]] = {
    "startsWith": str.startswith,
    "endsWith": str.endswith,
    "contains": str.__contains__,
}
_DAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_CYCLE = timedelta(days=146_097)
"""400 years of the calendar, after which days of the week and of the year come again as they were."""


@dataclass(frozen=True, slots=True)
class OtherField:
    """A field beside another one of its kind."""

    field: str
    operator: str
    other: str


@dataclass(frozen=True, slots=True)
class Part:
    """A text that begins with, ends with or contains another."""

    field: str
    where: str
    text: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A field that is null."""

    field: str


@dataclass(frozen=True, slots=True)
class Multiple:
    """An amount that is so many millionths times a whole number."""

    field: str
    divisor: int


@dataclass(frozen=True, slots=True)
class LocalTime:
    """A time of day in a zone, in minutes, and the days of the week on which it begins."""

    zone: str
    begin: int
    end: int
    days: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Within:
    """An address in one of some networks, each the bits that its addresses share."""

    field: str
    networks: tuple[tuple[int, str], ...]


Test: TypeAlias = "OtherField | Part | Missing | Multiple | Within | LocalTime"


def read_test(value: dict[str, Value]) -> Test | None:
    """The test, None where the keys are of something else, or Unreadable."""
    if value.keys() == {"localTime"}:
        return _local_time(value["localTime"])
    if value.keys() == {"field", "operator", "otherField"}:
        return _other_field(value)
    [*words] = value.keys() - {"field"}
    if len(value) != 2 or len(words) != 1:
        return None
    (word,) = words
    if word in _PARTS:
        field = read_field(value["field"])
        if kind_of(field) != "text":
            raise Unreadable(f"{field} is no text")
        return Part(field, word, str(read_constant(field, value[word])))
    if word == "isNull":
        if value[word] is not True:
            raise Unreadable("isNull is true")
        return Missing(read_field(value["field"]))
    if word == "inNetwork":
        return _within(read_field(value["field"]), value[word])
    if word == "multipleOf":
        field = read_field(value["field"])
        if kind_of(field) != "amount":
            raise Unreadable(f"{field} is no amount")
        divisor = int(read_constant(field, value[word]))
        if divisor <= 0:
            raise Unreadable("a divisor is above 0")
        return Multiple(field, divisor)
    return None


def _within(field: str, networks: Value) -> Within:
    if kind_of(field) != "address" or not isinstance(networks, list) or not networks:
        raise Unreadable("networks are for addresses")
    return Within(field, tuple(read_network(read_text(network, "network")) for network in networks))


def _other_field(value: dict[str, Value]) -> OtherField:
    field, other = read_field(value["field"]), read_field(value["otherField"])
    symbol = read_text(value["operator"], "operator")
    if field == other or kind_of(field) != kind_of(other):
        raise Unreadable(f"{field} is not compared with {other}")
    if symbol not in _COMPARED and not (symbol in _ORDERED and kind_of(field) in {"amount", "time"}):
        raise Unreadable(f"{field} has no operator {symbol}")
    return OtherField(field, symbol, other)


def _local_time(value: Value) -> LocalTime:
    if not isinstance(value, dict) or not {"zone", "from", "to"} <= value.keys() <= {
        "zone",
        "from",
        "to",
        "days",
    }:
        raise Unreadable("a local time has zone, from and to")
    zone = read_text(value["zone"], "zone")
    try:
        ZoneInfo(zone)
    except (KeyError, OSError, ValueError) as error:
        raise Unreadable(f"no zone {zone}") from error
    days = value.get("days", [*_DAYS])
    if not isinstance(days, list) or not days or any(day not in _DAYS for day in days):
        raise Unreadable("days are a list of some")
    chosen = tuple(day for day in _DAYS if day in days)
    return LocalTime(zone, _minute(value["from"]), _minute(value["to"]), chosen)


def _minute(value: Value) -> int:
    text = read_text(value, "time of day")
    if not re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", text):
        raise Unreadable(f"no time of day {text}")
    return 60 * int(text[:2]) + int(text[3:])


def fields_of_test(test: Test) -> frozenset[str]:
    """The fields that it looks at."""
    if isinstance(test, LocalTime):
        return frozenset({current_type().time})
    return frozenset({test.field, test.other} if isinstance(test, OtherField) else {test.field})


def holds(test: Test, transaction: Transaction) -> bool:
    """True if the transaction passes. But for `isNull`, null passes nothing."""
    if isinstance(test, LocalTime):
        return _shows(test, transaction.event_time)
    value = value_of(test.field, transaction)
    if isinstance(test, Missing):
        return value is None
    if value is None:
        return False
    if not isinstance(test, OtherField):
        return _holds_alone(test, value)
    other = value_of(test.other, transaction)
    if other is None:
        return False
    if test.operator in _COMPARED:
        return _COMPARED[test.operator](value, other)
    return _ORDERED[test.operator](int(value), int(other))


def _holds_alone(test: Part | Multiple | Within, value: int | str) -> bool:
    if isinstance(test, Within):
        return is_within(str(value), test.networks)
    if isinstance(test, Part):
        return _PARTS[test.where](str(value), test.text)
    return int(value) % test.divisor == 0


def _shows(test: LocalTime, time: int) -> bool:
    """Whether a clock in the zone shows such a time; by its own steps, a day back where it is past midnight."""
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time)
    # what a clock would show after the year 9999 it shows 400 years before
    local = (instant - _CYCLE if instant.year == 9999 else instant).astimezone(ZoneInfo(test.zone))
    minute, day = 60 * local.hour + local.minute, local.weekday()
    if test.begin < test.end:
        return test.begin <= minute < test.end and _DAYS[day] in test.days
    if minute >= test.begin:
        return _DAYS[day] in test.days
    return minute < test.end and _DAYS[(day + 6) % 7] in test.days
