"""What a condition measures: an aggregate over a window, or over a part of it (semantics 3)."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.parsers.filters import Filter, fields_of, read_filter
from tests.oracle.parsers.grouping_keys import Key, groupable, read_grouping
from tests.oracle.values.errors import OutOfScope, Unreadable
from tests.oracle.values.event_types import current_type
from tests.oracle.values.strict_json import Value, read_integer

FUNCTIONS = ("SUM", "AVG", "MIN", "MAX", "COUNT")
DISTINCT = "COUNT_DISTINCT"
SINCE_PREVIOUS, SINCE_FIRST = "SECONDS_SINCE_PREVIOUS", "SECONDS_SINCE_FIRST"
CHANGED = "CHANGED"
SPEED = "SPEED_KMH"
DEVIATION = "STDDEV"
# What depends on the order of the window's transactions.
OF_ORDER = (SINCE_PREVIOUS, SINCE_FIRST, CHANGED, SPEED)
# What a condition is made of, and what a chained rule therefore has not beside its conditions.
MEMBERS = (
    "groupingKeyNames",
    "aggregatorFunctionType",
    "aggregateFieldName",
    "unique",
    "limitOperatorType",
    "limit",
    "windowSeconds",
    "windowMinutes",
)
_WIDEST_SECONDS = 400 * 24 * 3600
_MOST_LEAST = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """An aggregate over a window. Grouping in name order, window and offset in ms.

    `field` is None for COUNT and for what looks at times alone, `only` its own filter, which the one condition of a
    plain rule has not. The window ends `offset` before the transaction, which is in it if `current`. Of fewer than
    `least` there is no value.
    """

    grouping: tuple[Key, ...]
    function: str
    field: str | None
    window: int
    only: Filter | None = None
    offset: int = 0
    current: bool = True
    least: int = 0

    @property
    def reach(self) -> int:
        """How far back it begins, in ms."""
        return self.window + self.offset

    def uses(self) -> frozenset[str]:
        """The fields that it names."""
        fields = {*(key.field for key in self.grouping), *fields_of(self.only)}
        return frozenset(fields if self.field is None else fields | {self.field})


def read_measure(value: dict[str, Value], others: set[str]) -> Measure:
    """What stands in `conditions`, with nothing else beside it than these others."""
    known = {*MEMBERS} - {"limitOperatorType", "limit"}
    if value.keys() - {*known, *others, "filter", "offsetSeconds", "includeCurrent", "minimumCount"}:
        raise Unreadable("a condition has something else")
    only = None if value.get("filter") is None else read_filter(value["filter"])
    function, field = _aggregate(value)
    offset, least, current = (
        _number(value, "offsetSeconds"),
        _number(value, "minimumCount"),
        value.get("includeCurrent"),
    )
    if current is not None and not isinstance(current, bool):
        raise Unreadable("includeCurrent is neither true nor false")
    window = _window(value)
    if offset > _WIDEST_SECONDS or 1000 * offset + window > 1000 * _WIDEST_SECONDS or least > _MOST_LEAST:
        raise Unreadable("reaches too far, or asks for too many")
    if function in OF_ORDER and (offset or current is False):
        raise Unreadable("not over a part of a window")
    return Measure(
        grouping=read_grouping(value.get("groupingKeyNames")),
        function=function,
        field=field,
        window=window,
        only=only,
        offset=1000 * offset,
        current=current is not False and offset == 0,
        least=least,
    )


def _number(value: dict[str, Value], name: str) -> int:
    number = 0 if value.get(name) is None else read_integer(value[name], name)
    if number < 0:
        raise Unreadable(f"{name} is negative")
    return number


def _aggregate(members: dict[str, Value]) -> tuple[str, str | None]:
    if members.get("unique") not in (None, []):
        raise OutOfScope("unique in a normalised definition")
    function, field = members.get("aggregatorFunctionType"), members.get("aggregateFieldName")
    if function in (DISTINCT, CHANGED):
        return function, groupable(field)
    if function == SPEED:
        if not isinstance(field, str) or field not in current_type().positions:
            raise Unreadable("speeds are between positions")
        return function, field
    if function in (SINCE_PREVIOUS, SINCE_FIRST):
        if field is not None:
            raise Unreadable("times are of no field")
        return function, None
    if not isinstance(function, str) or function not in (*FUNCTIONS, DEVIATION):
        raise Unreadable("unknown aggregate function")
    if function == "COUNT":
        return function, None
    if field != current_type().amount:
        raise Unreadable("aggregate field is not a measure")
    return function, current_type().amount


def _window(members: dict[str, Value]) -> int:
    if "windowSeconds" in members:
        seconds = read_integer(members["windowSeconds"], "windowSeconds")
    else:
        seconds = 60 * read_integer(members.get("windowMinutes"), "windowMinutes")
    return read_duration(seconds, "window")


def read_duration(seconds: int, what: str) -> int:
    """A number of seconds, as a window may last, in ms, or Unreadable."""
    if not 1 <= seconds <= _WIDEST_SECONDS:
        raise Unreadable(f"{what} out of range")
    return 1000 * seconds
