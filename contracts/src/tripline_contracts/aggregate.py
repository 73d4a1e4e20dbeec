"""Reading what a rule aggregates: the function, the field, and the articles' two ways of saying COUNT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tripline_contracts import spelling
from tripline_contracts.errors import Problem
from tripline_contracts.event_type import EventType

FUNCTIONS: Final = ("SUM", "AVG", "MIN", "MAX", "COUNT")
COUNT_FIELDS: Final = ("COUNT_FLINK", "COUNT_WITH_RESET_FLINK")
_WITH_COUNT_FIELDS: Final = (None, "SUM", "COUNT")


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What a definition asks for, supported or not.

    `field` is None for COUNT; `distinct_of` names the fields of a COUNT_DISTINCT.
    """

    function: str
    field: str | None
    distinct_of: tuple[str, ...] = ()
    reset_on_alert: bool = False


def read_aggregate(
    function: object, field: object, unique: object, event_type: EventType
) -> tuple[Aggregate | None, list[Problem]]:
    """The aggregate that the three JSON values mean, or None and what is wrong with them.

    `COUNT_FLINK` as the field is COUNT, `COUNT_WITH_RESET_FLINK` is COUNT with reset on alert, and a count
    with `unique` is COUNT_DISTINCT.
    """
    problems: list[Problem] = []
    word, column = spelling.keyword(function), spelling.keyword(field)
    count_column = column if column in COUNT_FIELDS else None
    if count_column:
        word = _count_by_field(word, function, count_column, problems)
    elif word is None or (word not in FUNCTIONS and not word.startswith("COUNT_DISTINCT")):
        expected = f"expected one of {', '.join(FUNCTIONS)}, not {spelling.shown(function)}"
        problems.append(Problem("aggregatorFunctionType", expected))
        word = None
    distinct = _distinct(word, unique, event_type, problems)
    measured = None
    if word is not None and word.startswith("COUNT"):
        if not count_column:
            _check_counted_field(field, event_type, problems)
    else:
        measured = _measure(field, event_type, problems)
    if problems or word is None:
        return None, problems
    if word.startswith("COUNT_DISTINCT") or distinct:
        return Aggregate("COUNT_DISTINCT", None, distinct), []
    reset = count_column == "COUNT_WITH_RESET_FLINK"
    return Aggregate(word, measured, reset_on_alert=reset), []


def _count_by_field(word: str | None, function: object, column: str, problems: list[Problem]) -> str:
    if word not in _WITH_COUNT_FIELDS:
        message = f"expected SUM or COUNT with the field {column}, not {spelling.shown(function)}"
        problems.append(Problem("aggregatorFunctionType", message))
    return "COUNT"


def _distinct(
    word: str | None, unique: object, event_type: EventType, problems: list[Problem]
) -> tuple[str, ...]:
    names = [] if unique is None else spelling.name_list(unique)
    if names is None:
        problems.append(Problem("unique", f"expected a list of field names, not {spelling.shown(unique)}"))
        return ()
    known = [field.name for name in names if (field := event_type.find(name)) is not None]
    if len(known) < len(names):
        every = ", ".join(field.name for field in event_type.fields)
        problems.append(Problem("unique", f"names a field that is not declared; expected some of {every}"))
    if names and word is not None and not word.startswith("COUNT"):
        problems.append(Problem("unique", f"means something with a count only, not with {word}"))
    return tuple(known)


def _check_counted_field(field: object, event_type: EventType, problems: list[Problem]) -> None:
    """COUNT counts transactions; a field beside it passes where that is the same, where it is never null."""
    if field is None or (isinstance(field, str) and not spelling.bare(field)):
        return
    declared = event_type.find(spelling.bare(field)) if isinstance(field, str) else None
    if declared is None or not declared.required:
        message = f"COUNT counts transactions: expected null or no field, not {spelling.shown(field)}"
        problems.append(Problem("aggregateFieldName", message))


def _measure(field: object, event_type: EventType, problems: list[Problem]) -> str | None:
    declared = event_type.find(spelling.bare(field)) if isinstance(field, str) else None
    if declared is not None and declared.role == "measure":
        return declared.name
    expected = f"expected one of {', '.join(event_type.measures)}, not {spelling.shown(field)}"
    problems.append(Problem("aggregateFieldName", expected))
    return None
