"""The rule definition: one representation inside, many spellings on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, cast

from tripline_contracts import decimals, spelling
from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.definition_reading import MAX_WINDOW_SECONDS, DefinitionReading
from tripline_contracts.errors import InvalidDefinition, Problem
from tripline_contracts.event_type import EventType
from tripline_contracts.filters import Filter
from tripline_contracts.names import Parameter
from tripline_contracts.spelling import Operator

__all__ = [
    "MAX_WINDOW_SECONDS",
    "Firing",
    "Function",
    "InvalidDefinition",
    "LateEvents",
    "Operator",
    "Parameter",
    "Problem",
    "RuleDefinition",
    "parse",
]

Function = Literal["SUM", "AVG", "MIN", "MAX", "COUNT", "COUNT_DISTINCT"]
Firing = Literal["every", "crossing"]
LateEvents = Literal["evaluate", "reevaluate", "store"]


@dataclass(frozen=True, slots=True)
class RuleDefinition:
    """What a rule means, whatever it was spelled like.

    `grouping_key_names` is sorted, empty for one global group; `aggregate_field` is None for COUNT only, and for
    COUNT_DISTINCT the field whose different values are counted;
    `filter` is None where every transaction passes; `limit` may be a parameter, whose value changes without the rule.
    """

    grouping_key_names: tuple[str, ...]
    function: Function
    aggregate_field: str | None
    operator: Operator
    limit: Decimal | Parameter
    window_seconds: int
    firing: Firing = "every"
    late_events: LateEvents = "evaluate"
    precision: Literal["exact"] = "exact"
    filter: Filter | None = None
    reset_on_alert: bool = False
    cooldown_seconds: int | None = None

    def to_json(self) -> dict[str, object]:
        """The normalised form, in rule events and API answers; `parse` reads it back to an equal value.

        `filter`, `resetOnAlert` and `cooldownSeconds` are in it only where they say something: a definition
        without them keeps the hash that it had before there were any.
        """
        normalised: dict[str, object] = {
            "groupingKeyNames": list(self.grouping_key_names),
            "aggregatorFunctionType": self.function,
            "aggregateFieldName": self.aggregate_field,
            "limitOperatorType": self.operator,
            "limit": (
                self.limit.to_json() if isinstance(self.limit, Parameter) else decimals.plain(self.limit)
            ),
            "windowSeconds": self.window_seconds,
            "firing": self.firing,
            "lateEvents": self.late_events,
            "precision": self.precision,
        }
        if self.filter is not None:
            normalised["filter"] = self.filter.to_json()
        if self.reset_on_alert:
            normalised["resetOnAlert"] = True
        if self.cooldown_seconds is not None:
            normalised["cooldownSeconds"] = self.cooldown_seconds
        return normalised

    @property
    def lists(self) -> frozenset[str]:
        """Names of the lists that it looks into."""
        return frozenset() if self.filter is None else self.filter.lists()

    @property
    def parameters(self) -> frozenset[str]:
        """Names of the parameters that its filter and its limit compare with."""
        compared = frozenset[str]() if self.filter is None else self.filter.parameters()
        return compared | {self.limit.name} if isinstance(self.limit, Parameter) else compared

    @property
    def hash(self) -> str:
        """The definitionHash: hexadecimal SHA-256 of the canonical JSON of `to_json()`."""
        return sha256_hex(canonical_json(self.to_json()))


def parse(data: Mapping[str, object], event_type: EventType) -> RuleDefinition:
    """The definition that the JSON object `data` means, in any of the spellings of specification §2.

    null counts as absent. Numbers may be int, Decimal or quoted; a limit may not be a float.
    Raises InvalidDefinition with every problem found, each naming its field and what was expected there;
    what is specified but not built is refused with "… is not supported yet".
    """
    if not isinstance(data, Mapping):
        raise InvalidDefinition([Problem("definition", f"expected an object, not {spelling.shown(data)}")])
    reading = DefinitionReading(data, event_type)
    reading.refuse_what_only_says_state()
    reading.refuse_what_is_not_built()
    reading.refuse_what_contradicts_itself()
    firing, late_events = reading.firing(), reading.late_events()
    grouping = reading.grouping()
    function, field, reset_on_alert = reading.aggregate()
    operator = reading.operator()
    limit = reading.limit()
    window_seconds = reading.window_seconds()
    cooldown_seconds = reading.cooldown_seconds()
    passing = reading.filter()
    if reading.problems:
        raise InvalidDefinition(reading.problems)
    # had one of them been missing, there would have been a problem
    assert operator is not None
    assert limit is not None
    assert window_seconds is not None
    return RuleDefinition(
        grouping_key_names=grouping,
        function=cast("Function", function),
        aggregate_field=field,
        operator=operator,
        limit=limit,
        window_seconds=window_seconds,
        firing=cast("Firing", firing),
        late_events=cast("LateEvents", late_events),
        filter=passing,
        reset_on_alert=reset_on_alert,
        cooldown_seconds=cooldown_seconds,
    )
