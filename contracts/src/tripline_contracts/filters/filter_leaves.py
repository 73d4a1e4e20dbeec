"""Tests of a filter that are no comparison with constants: with another field, of a text's parts, for null, of round
numbers, of networks, and of the time of day.

Each is false for null, but the test for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

from tripline_contracts.event_type import SIDE
from tripline_contracts.spelling import Operator

Json = dict[str, object]
TextOperator = Literal["startsWith", "endsWith", "contains"]
Day = Literal["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]

TEXT_OPERATORS: Final[tuple[TextOperator, ...]] = get_args(TextOperator)
WEEK: Final[tuple[Day, ...]] = get_args(Day)
"""The days in order, Monday first."""

_NONE: Final = frozenset[str]()


class Unnamed:
    """The named values of a test: none, unless it says which."""

    __slots__ = ()

    def lists(self) -> frozenset[str]:
        """Names of the lists that it looks into."""
        return _NONE

    def parameters(self) -> frozenset[str]:
        """Names of the parameters that it compares with."""
        return _NONE


@dataclass(frozen=True, slots=True)
class FieldComparison(Unnamed):
    """True if neither field is null and the one stands so to the other; both are of one kind."""

    field: str
    operator: Operator
    other: str

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"field": self.field, "operator": self.operator, "otherField": self.other}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return frozenset((self.field, self.other))


@dataclass(frozen=True, slots=True)
class TextTest(Unnamed):
    """True if the text begins or ends with that text or has it in it, code point by code point, case counted."""

    field: str
    operator: TextOperator
    text: str

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"field": self.field, self.operator: self.text}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return frozenset((self.field,))


@dataclass(frozen=True, slots=True)
class NullTest(Unnamed):
    """True if the field is null."""

    field: str

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"field": self.field, "isNull": True}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return frozenset((self.field,))


@dataclass(frozen=True, slots=True)
class MultipleTest(Unnamed):
    """True if the number is a whole multiple of `divisor`, which is positive and kept as plain decimal text; 0 is."""

    field: str
    divisor: str

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"field": self.field, "multipleOf": self.divisor}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return frozenset((self.field,))


@dataclass(frozen=True, slots=True)
class LocalTimeTest(Unnamed):
    """True if a clock in the zone shows, at the event time, from `start` on and before `end`, on one of the days.

    Where `end` is not after `start` the span goes over midnight; its day is the one on which it begins.

    :ivar field: the event time's
    :ivar zone: an IANA name
    :ivar start: minute of the day, as `end` is
    :ivar days: in the order of the week; none for every day
    """

    field: str
    zone: str
    start: int
    end: int
    days: tuple[Day, ...]

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        days = {"days": list(self.days)} if self.days else {}
        return {"localTime": {"zone": self.zone, "from": _clock(self.start), "to": _clock(self.end), **days}}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return frozenset((self.field,))


@dataclass(frozen=True, slots=True)
class NetworkTest(Unnamed):
    """True if the address is in one of these networks, which are in normal form, each once, sorted as texts."""

    field: str
    networks: tuple[str, ...]

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {"field": self.field, "inNetwork": list(self.networks)}

    def fields(self) -> frozenset[str]:
        """Canonical names of the fields that it looks at."""
        return frozenset((self.field,))


@dataclass(frozen=True, slots=True)
class SideTest(Unnamed):
    """True of an entry whose party is on that side; in rules that group by a party alone."""

    side: str

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        return {SIDE: self.side}

    def fields(self) -> frozenset[str]:
        """What it looks at: the side, which entries have beside the fields."""
        return frozenset((SIDE,))


def _clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"
