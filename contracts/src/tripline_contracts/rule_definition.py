"""The rule definition: one representation inside, many spellings on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, cast

from tripline_contracts import decimals, spelling
from tripline_contracts.aggregate import read_aggregate
from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.errors import InvalidDecimal, InvalidDefinition, Problem
from tripline_contracts.event_type import EventType

__all__ = ["Function", "InvalidDefinition", "Operator", "Problem", "RuleDefinition", "parse"]

Function = Literal["SUM", "AVG", "MIN", "MAX", "COUNT"]
Operator = Literal["=", "!=", ">=", "<=", ">", "<"]

MAX_WINDOW_SECONDS: Final = 400 * 24 * 60 * 60
"""400 days; the least window is one second."""


@dataclass(frozen=True, slots=True)
class RuleDefinition:
    """What a rule means, whatever it was spelled like.

    `grouping_key_names` is sorted, empty for one global group; `aggregate_field` is None for COUNT only.
    """

    grouping_key_names: tuple[str, ...]
    function: Function
    aggregate_field: str | None
    operator: Operator
    limit: Decimal
    window_seconds: int
    firing: Literal["every"] = "every"
    late_events: Literal["evaluate"] = "evaluate"
    precision: Literal["exact"] = "exact"

    def to_json(self) -> dict[str, object]:
        """The normalised form, in rule events and API answers; `parse` reads it back to an equal value."""
        return {
            "groupingKeyNames": list(self.grouping_key_names),
            "aggregatorFunctionType": self.function,
            "aggregateFieldName": self.aggregate_field,
            "limitOperatorType": self.operator,
            "limit": decimals.plain(self.limit),
            "windowSeconds": self.window_seconds,
            "firing": self.firing,
            "lateEvents": self.late_events,
            "precision": self.precision,
        }

    @property
    def hash(self) -> str:
        """The definitionHash: hexadecimal SHA-256 of the canonical JSON of `to_json()`."""
        return sha256_hex(canonical_json(self.to_json()))


_READ: Final = (
    "groupingKeyNames",
    "unique",
    "aggregatorFunctionType",
    "aggregateFieldName",
    "limitOperatorType",
    "limit",
    "windowSeconds",
    "windowMinutes",
    "firing",
    "lateEvents",
    "precision",
)
_STATE: Final = ("ruleId", "ruleState", "controlType")
_NOT_YET: Final = ("filter", "cooldownSeconds", "resetOnAlert", "conditions", "all", "any", "not")
_SPELLINGS: Final = {name.casefold(): name for name in (*_READ, *_STATE, *_NOT_YET)}


def parse(data: Mapping[str, object], event_type: EventType) -> RuleDefinition:
    """The definition that the JSON object `data` means, in any of the spellings of specification §2.

    null counts as absent. Numbers may be int, Decimal or quoted; a limit may not be a float.
    Raises InvalidDefinition with every problem found, each naming its field and what was expected there;
    what is specified but not built is refused with "… is not supported yet".
    """
    if not isinstance(data, Mapping):
        raise InvalidDefinition([Problem("definition", f"expected an object, not {spelling.shown(data)}")])
    reading = _Reading(data, event_type)
    reading.refuse_what_only_says_state()
    reading.refuse_what_is_not_built()
    grouping = reading.grouping()
    function, field = reading.aggregate()
    operator = reading.operator()
    limit = reading.limit()
    window_seconds = reading.window_seconds()
    if reading.problems:
        raise InvalidDefinition(reading.problems)
    # had either been missing, there would have been a problem
    assert limit is not None
    assert window_seconds is not None
    return RuleDefinition(
        grouping, cast("Function", function), field, cast("Operator", operator), limit, window_seconds
    )


class _Reading:
    """One definition being read: its values under their proper names, and the problems so far."""

    def __init__(self, data: Mapping[str, object], event_type: EventType) -> None:
        self.problems: list[Problem] = []
        self._event_type = event_type
        self._values: dict[str, object] = {}
        for key, value in data.items():
            name = _SPELLINGS.get(key.casefold())
            if name is None:
                self._add(spelling.shown(key)[1:-1], f"unknown field; expected only {', '.join(_READ)}")
            elif name in self._values:
                self._add(name, "given twice, in different cases; expected once")
            else:
                self._values[name] = value

    def refuse_what_only_says_state(self) -> None:
        """Only ACTIVE defines a rule; the other states and the controls are other commands."""
        state, control = self._values.get("ruleState"), self._values.get("controlType")
        if state is not None and spelling.keyword(state) != "ACTIVE":
            self._add("ruleState", f"expected ACTIVE in a definition, not {spelling.shown(state)}")
        if control is not None:
            self._add("controlType", f"expected null in a definition, not {spelling.shown(control)}")

    def refuse_what_is_not_built(self) -> None:
        """What the specification has and this version does not: said as such, not as an unknown field."""
        for name in _NOT_YET:
            value = self._values.get(name)
            if value is not None and not (name == "resetOnAlert" and value is False):
                self._add(name, f"{name} is not supported yet; leave it out")
        self._only("firing", "every", not_yet=("CROSSING",))
        self._only("lateEvents", "evaluate", not_yet=("REEVALUATE", "STORE"))
        self._only("precision", "exact", not_yet=("BUCKETED",))

    def grouping(self) -> tuple[str, ...]:
        """Canonical names, sorted; the empty set is one global group and has to be said."""
        value = self._values.get("groupingKeyNames")
        names = spelling.name_list(value)
        expected = f"expected any of {', '.join(self._event_type.groupable)}, or [] for one global group"
        if names is None:
            self._add("groupingKeyNames", f"{expected}; not {spelling.shown(value)}")
            return ()
        fields = [self._event_type.find(name) for name in names]
        for name, field in zip(names, fields, strict=True):
            if field is None or not field.groupable:
                self._add("groupingKeyNames", f"{expected}; not {spelling.shown(name)}")
        canonical = [field.name for field in fields if field is not None]
        for name in sorted({name for name in canonical if canonical.count(name) > 1}):
            self._add("groupingKeyNames", f"{name} is named twice; expected once")
        return tuple(sorted(canonical))

    def aggregate(self) -> tuple[str, str | None]:
        """The function and its field."""
        values = self._values
        aggregate, problems = read_aggregate(
            values.get("aggregatorFunctionType"),
            values.get("aggregateFieldName"),
            values.get("unique"),
            self._event_type,
        )
        self.problems.extend(problems)
        if aggregate is None:
            return "", None
        if aggregate.function == "COUNT_DISTINCT":
            name = "unique" if aggregate.distinct_of else "aggregatorFunctionType"
            self._add(name, "COUNT_DISTINCT is not supported yet")
        if aggregate.reset_on_alert:
            message = "COUNT_WITH_RESET_FLINK (COUNT with resetOnAlert) is not supported yet"
            self._add("aggregateFieldName", message)
        return aggregate.function, aggregate.field

    def operator(self) -> str:
        """The operator's symbol."""
        value = self._values.get("limitOperatorType")
        symbol = spelling.operator(value)
        if symbol is None:
            expected = " ".join(f"{symbol} ({name})" for name, symbol in spelling.OPERATORS.items())
            self._add("limitOperatorType", f"expected one of {expected}; not {spelling.shown(value)}")
            return ""
        return symbol

    def limit(self) -> Decimal | None:
        """The limit as decimal(24,6)."""
        value = self._values.get("limit")
        if not isinstance(value, (str, int, Decimal)) or isinstance(value, bool):
            what = "a float; send it as text" if isinstance(value, float) else spelling.shown(value)
            self._add("limit", f"expected a decimal number, or its text, not {what}")
            return None
        try:
            return decimals.parse(spelling.bare(value) if isinstance(value, str) else value)
        except InvalidDecimal as error:
            self._add("limit", str(error))
            return None

    def window_seconds(self) -> int | None:
        """The window from windowSeconds, windowMinutes, or both if they agree."""
        seconds, minutes = self._window("windowSeconds", 1), self._window("windowMinutes", 60)
        if seconds is None and minutes is None and not self._given("windowSeconds", "windowMinutes"):
            self._add("windowSeconds", "expected windowSeconds or windowMinutes")
        if seconds is not None and minutes is not None and seconds != minutes:
            message = f"{seconds} s and windowMinutes ({minutes} s) disagree; expected one of them"
            self._add("windowSeconds", message)
        return minutes if seconds is None else seconds

    def _window(self, name: str, unit_seconds: int) -> int | None:
        if not self._given(name):
            return None
        value = self._values[name]
        number, most = spelling.whole_number(value), MAX_WINDOW_SECONDS // unit_seconds
        if number is None or not 1 <= number <= most:
            expected = f"expected a whole number from 1 to {most} (400 days)"
            self._add(name, f"{expected}, not {spelling.shown(value)}")
            return None
        return number * unit_seconds

    def _only(self, name: str, only: str, not_yet: tuple[str, ...]) -> None:
        value = self._values.get(name)
        word = spelling.keyword(value) or ""
        if isinstance(value, Mapping):  # {"bucketed": 60}
            word = next((key.upper() for key in value if isinstance(key, str)), "")
        if value is None or word == only.upper():
            return
        if word.startswith(not_yet):
            self._add(name, f"{word.lower()} is not supported yet; expected {only}")
        else:
            self._add(name, f"expected {only}, not {spelling.shown(value)}")

    def _given(self, *names: str) -> bool:
        return any(self._values.get(name) is not None for name in names)

    def _add(self, field: str, message: str) -> None:
        self.problems.append(Problem(field, message))
