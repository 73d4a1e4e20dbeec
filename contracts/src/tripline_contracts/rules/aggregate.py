"""Reading what a rule aggregates: the function, the field, and the many ways of saying that something is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tripline_contracts import spelling
from tripline_contracts.errors import Problem
from tripline_contracts.event_type import EventType

Function = Literal[
    "SUM",
    "AVG",
    "MIN",
    "MAX",
    "COUNT",
    "COUNT_DISTINCT",
    "SECONDS_SINCE_PREVIOUS",
    "SECONDS_SINCE_FIRST",
    "CHANGED",
    "STDDEV",
    "SPEED_KMH",
]
FUNCTIONS: Final = (
    "SUM",
    "AVG",
    "MIN",
    "MAX",
    "COUNT",
    "COUNT_DISTINCT",
    "SECONDS_SINCE_PREVIOUS",
    "SECONDS_SINCE_FIRST",
    "CHANGED",
    "STDDEV",
    "SPEED_KMH",
)
SINCE: Final = ("SECONDS_SINCE_PREVIOUS", "SECONDS_SINCE_FIRST")
"""They look at event times alone."""
OF_ORDER: Final = (*SINCE, "CHANGED", "SPEED_KMH")
"""They look at which transaction was before."""
JUDGED_ONCE: Final = (*OF_ORDER, "STDDEV")
"""Neither an alert's reset nor a second judgement goes with them."""
NOT_IN_BUCKETS: Final = ("COUNT_DISTINCT", *JUDGED_ONCE)
COUNT_FIELDS: Final = ("COUNT_FLINK", "COUNT_WITH_RESET_FLINK")
_WITH_COUNT_FIELDS: Final = (None, "SUM", "COUNT")


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A function and its field, which is None for COUNT and for what looks at event times alone."""

    function: str
    field: str | None
    reset_on_alert: bool = False


def read_aggregate(
    function: object, field: object, unique: object, event_type: EventType
) -> tuple[Aggregate | None, list[Problem]]:
    """The aggregate that the three JSON values mean, or None and what is wrong with them.

    `COUNT_FLINK` as the field is COUNT, `COUNT_WITH_RESET_FLINK` is COUNT with reset on alert, and a count
    with `unique` is COUNT_DISTINCT.
    """
    reading = _Reading(event_type)
    aggregate = reading.read(function, field, unique)
    return (None if reading.problems else aggregate), reading.problems


class _Reading:
    """One aggregate being read, and the problems so far."""

    def __init__(self, event_type: EventType) -> None:
        self.problems: list[Problem] = []
        self._event_type = event_type

    def read(self, function: object, field: object, unique: object) -> Aggregate | None:
        word, inside = _split(function)
        column = spelling.keyword(field)
        count_column = column if column in COUNT_FIELDS else None
        if count_column:
            word = self._count_by_field(word, function, count_column)
        elif word not in FUNCTIONS:
            expected = f"expected one of {', '.join(FUNCTIONS)}, not {spelling.shown(function)}"
            self._refuse("aggregatorFunctionType", expected)
            word = None
        distinct = self._unique(word, unique)
        resets = count_column == "COUNT_WITH_RESET_FLINK"
        if word == "COUNT_DISTINCT" or distinct is not None:
            field_beside = None if count_column or _says_nothing(field) else field
            return Aggregate(
                "COUNT_DISTINCT", self._field_looked_at(word, inside, field_beside, distinct), resets
            )
        if word == "COUNT":
            if not count_column:
                self._check_counted_field(field)
            return Aggregate("COUNT", None, resets)
        if word in SINCE:
            self._check_no_field(word, field)
            return Aggregate(word, None)
        if word in ("CHANGED", "SPEED_KMH"):
            field_beside = None if _says_nothing(field) else field
            return Aggregate(word, self._field_looked_at(word, inside, field_beside, None))
        measured = self._measure(field)
        return None if word is None else Aggregate(word, measured)

    def _count_by_field(self, word: str | None, function: object, column: str) -> str:
        if word not in _WITH_COUNT_FIELDS:
            message = f"expected SUM or COUNT with the field {column}, not {spelling.shown(function)}"
            self._refuse("aggregatorFunctionType", message)
        return "COUNT"

    def _unique(self, word: str | None, unique: object) -> str | None:
        """The one field whose different values are to be counted, as it was written; None if nothing is said."""
        names = [] if unique is None else spelling.name_list(unique)
        if names is None:
            self._refuse("unique", f"expected a list of one field name, not {spelling.shown(unique)}")
        elif names and word is not None and not word.startswith("COUNT"):
            self._refuse("unique", f"means something with a count only, not with {word}")
        elif len(names) > 1:
            self._refuse("unique", "expected one field: the different values of one field are counted")
        elif names:
            return names[0]
        return None

    def _field_looked_at(
        self, word: str | None, inside: str | None, field_beside: object, unique: str | None
    ) -> str | None:
        """The field to look at, from `COUNT_DISTINCT(field)` and the like, `aggregateFieldName` and `unique`: what says
        it must agree."""
        names = self._event_type.positions if word == "SPEED_KMH" else self._event_type.groupable
        choice = f"one of {', '.join(names)}" if names else "a field of positions, of which there is none"
        if word == "COUNT" and unique is not None:
            self._check_counted_field(field_beside)
            field_beside = None
        spellings = {"aggregatorFunctionType": inside, "aggregateFieldName": field_beside, "unique": unique}
        fields = {
            name: self._declared(name, value, names, choice)
            for name, value in spellings.items()
            if value is not None
        }
        if not fields and not self.problems:  # a unique that was refused has said enough
            self._refuse("aggregateFieldName", f"expected the field to look at, {choice}")
        elif len(set(fields.values())) > 1:
            self._refuse("aggregateFieldName", f"{' and '.join(fields)} name different fields; expected one")
        return next(iter(fields.values()), None)

    def _declared(self, name: str, value: object, names: tuple[str, ...], choice: str) -> str | None:
        declared = self._event_type.find(spelling.bare(value)) if isinstance(value, str) else None
        if declared is not None and declared.name in names:
            return declared.name
        self._refuse(name, f"expected {choice}; not {spelling.shown(value)}")
        return None

    def _check_counted_field(self, field: object) -> None:
        """COUNT counts transactions; a field beside it passes where that is the same, where it is never null."""
        if _says_nothing(field):
            return
        declared = self._event_type.find(spelling.bare(field)) if isinstance(field, str) else None
        if declared is None or not declared.required:
            message = f"COUNT counts transactions: expected null or no field, not {spelling.shown(field)}"
            self._refuse("aggregateFieldName", message)

    def _check_no_field(self, word: str, field: object) -> None:
        if not _says_nothing(field):
            message = f"{word} looks at event times: expected null or no field, not {spelling.shown(field)}"
            self._refuse("aggregateFieldName", message)

    def _measure(self, field: object) -> str | None:
        declared = self._event_type.find(spelling.bare(field)) if isinstance(field, str) else None
        if declared is not None and declared.role == "measure":
            return declared.name
        expected = f"expected one of {', '.join(self._event_type.measures)}, not {spelling.shown(field)}"
        self._refuse("aggregateFieldName", expected)
        return None

    def _refuse(self, field: str, message: str) -> None:
        self.problems.append(Problem(field, message))


def _split(function: object) -> tuple[str | None, str | None]:
    """The keyword, and of `COUNT_DISTINCT(field)` and the like the field as it was written."""
    if isinstance(function, str):
        name, bracket, inside = spelling.bare(function).partition("(")
        if spelling.keyword(name) in ("COUNT_DISTINCT", "CHANGED", "SPEED_KMH") and inside.endswith(")"):
            return spelling.keyword(name), spelling.bare(bracket + inside) or None
    return spelling.keyword(function), None


def _says_nothing(field: object) -> bool:
    return field is None or (isinstance(field, str) and not spelling.bare(field))
