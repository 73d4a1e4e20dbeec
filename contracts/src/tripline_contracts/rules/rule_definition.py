"""The rule definition: one representation inside, many spellings on the way in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, cast

from tripline_contracts import spelling
from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.errors import InvalidDefinition, Problem
from tripline_contracts.event_type import EventType
from tripline_contracts.filters.filter_parser import Filter
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules import condition_parser, precision
from tripline_contracts.rules.aggregate import Function
from tripline_contracts.rules.conditions import Condition, ConditionTree, leaves, measures, weight_parameters
from tripline_contracts.rules.definition_parser import MAX_WINDOW_SECONDS, DefinitionReading
from tripline_contracts.rules.relative_limits import Baseline, RelativeLimit
from tripline_contracts.spelling import Operator

__all__ = [
    "MAX_WINDOW_SECONDS",
    "Condition",
    "ConditionTree",
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

Firing = Literal["every", "crossing"]
LateEvents = Literal["evaluate", "reevaluate", "store"]


@dataclass(frozen=True, slots=True)
class RuleDefinition:
    """The meaning of a rule, whatever its spelling.

    `grouping_key_names` is sorted, keys as `grouping_keys` has them, empty for one global group; `aggregate_field` is
    None for COUNT and for times since, for COUNT_DISTINCT and CHANGED the field whose values are looked at, and for
    SPEED_KMH that of the positions;
    `filter` is None where every transaction passes; `limit` may be a parameter, whose value changes without the rule.

    A chained rule, made by `chained`, has `conditions`, which are None for any other. Its `grouping_key_names` are the
    union of the groupings of all that it measures, `window_seconds` is how far back the widest of these windows begins,
    and `filter` is the rule's, kept beside theirs. `function`, `aggregate_field`, `operator` and `limit` are those of
    its first condition: they keep their types and decide nothing there. Code that asks for them takes `measured`
    wherever a rule may be chained.

    `bucket_seconds` is None where the windows are exact; else all of them, those of conditions too, are bucketed so.
    """

    grouping_key_names: tuple[str, ...]
    function: Function
    aggregate_field: str | None
    operator: Operator
    limit: Decimal | Parameter | RelativeLimit
    window_seconds: int
    firing: Firing = "every"
    late_events: LateEvents = "evaluate"
    bucket_seconds: int | None = None
    filter: Filter | None = None
    reset_on_alert: bool = False
    cooldown_seconds: int | None = None
    conditions: ConditionTree | None = None

    @classmethod
    def chained(
        cls,
        conditions: ConditionTree,
        *,
        firing: Firing = "every",
        late_events: LateEvents = "evaluate",
        bucket_seconds: int | None = None,
        filter: Filter | None = None,  # noqa: A002  # the member's name
        cooldown_seconds: int | None = None,
    ) -> RuleDefinition:
        """A rule of several conditions: whether they hold together decides."""
        measured = measures(conditions)
        first = leaves(conditions)[0]
        return cls(
            grouping_key_names=tuple(sorted({name for one in measured for name in one.grouping_key_names})),
            function=first.function,
            aggregate_field=first.aggregate_field,
            operator=first.operator,
            limit=first.limit,
            window_seconds=max(one.reach_seconds for one in measured),
            firing=firing,
            late_events=late_events,
            bucket_seconds=bucket_seconds,
            filter=filter,
            cooldown_seconds=cooldown_seconds,
            conditions=conditions,
        )

    def to_json(self) -> dict[str, object]:
        """The normalised form, in rule events and API answers; `parse` reads it back to an equal value.

        `filter`, `resetOnAlert` and `cooldownSeconds` are in it only where they say something: a definition
        without them keeps the hash that it had before there were any.
        """
        chained = self.conditions
        normalised: dict[str, object] = {
            **(self.measured[0].to_json() if chained is None else {"conditions": chained.to_json()}),
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
    def precision(self) -> str:
        """`exact` or `bucketed(b)`, as the normalised form has it."""
        return precision.text(self.bucket_seconds)

    @property
    def measured(self) -> tuple[Condition, ...]:
        """The conditions in the order of the tree; of a rule that is not chained the only one, without the filter,
        which is the rule's."""
        if self.conditions is not None:
            return leaves(self.conditions)
        only = Condition(
            self.grouping_key_names,
            self.function,
            self.aggregate_field,
            self.operator,
            self.limit,
            self.window_seconds,
        )
        return (only,)

    @property
    def measures(self) -> tuple[Condition | Baseline, ...]:
        """All that is measured: each condition, and behind it the measure of a relative limit."""
        return tuple(measure for condition in self.measured for measure in condition.measures)

    @property
    def shared_fields(self) -> tuple[str, ...]:
        """The keys that all measures group by, sorted: the rule's anchor is one of these, and never one in steps."""
        groupings = [measure.grouping_key_names for measure in self.measures]
        return tuple(sorted(frozenset(groupings[0]).intersection(*groupings)))

    @property
    def lists(self) -> frozenset[str]:
        """Names of the lists that it looks into."""
        names = frozenset[str]() if self.filter is None else self.filter.lists()
        return names.union(*(condition.lists() for condition in self.measured))

    @property
    def parameters(self) -> frozenset[str]:
        """Names of the parameters that its filters and its limits compare with, and of those that are weights."""
        names = frozenset[str]() if self.filter is None else self.filter.parameters()
        if self.conditions is not None:
            names |= weight_parameters(self.conditions)
        return names.union(*(condition.parameters() for condition in self.measured))

    @property
    def hash(self) -> str:
        """The definitionHash: hexadecimal SHA-256 of the canonical JSON of `to_json()`."""
        return sha256_hex(canonical_json(self.to_json()))


def parse(data: Mapping[str, object], event_type: EventType) -> RuleDefinition:
    """The definition that the JSON object `data` means, in any of the spellings of specification §2.

    null counts as absent. Numbers may be int, Decimal or quoted; a limit may not be a float.
    Raises InvalidDefinition with every problem found, each naming its field and what was expected there.
    """
    if not isinstance(data, Mapping):
        raise InvalidDefinition([Problem("definition", f"expected an object, not {spelling.shown(data)}")])
    reading = DefinitionReading(data, event_type)
    reading.refuse_what_only_says_state()
    reading.refuse_what_contradicts_itself()
    definition = _chained(reading, event_type) if reading.chained else _plain(reading)
    if definition is None:
        raise InvalidDefinition(reading.problems)
    return definition


def _plain(reading: DefinitionReading) -> RuleDefinition | None:
    firing, late_events = reading.firing(), reading.late_events()
    reset_on_alert = reading.reset_on_alert()
    measured = reading.condition()
    cooldown_seconds, bucket_seconds = reading.cooldown_seconds(), reading.bucket_seconds()
    if measured is not None:
        reading.refuse_unfit_buckets(bucket_seconds, (measured,))
        reading.refuse_unfit_parties((measured,), None, resets=reset_on_alert)
    if measured is None or reading.problems:
        return None
    return RuleDefinition(
        grouping_key_names=measured.grouping_key_names,
        function=measured.function,
        aggregate_field=measured.aggregate_field,
        operator=measured.operator,
        limit=measured.limit,
        window_seconds=measured.window_seconds,
        firing=cast("Firing", firing),
        late_events=cast("LateEvents", late_events),
        bucket_seconds=bucket_seconds,
        filter=measured.filter,
        reset_on_alert=reset_on_alert,
        cooldown_seconds=cooldown_seconds,
    )


def _chained(reading: DefinitionReading, event_type: EventType) -> RuleDefinition | None:
    firing, late_events = reading.firing(), reading.late_events()
    reading.reset_on_alert()  # only for what is wrong with it: the reset itself is refused
    tree, problems = condition_parser.read(reading.conditions(), event_type)
    reading.problems.extend(problems)
    cooldown_seconds, passing = reading.cooldown_seconds(), reading.filter()
    bucket_seconds = reading.bucket_seconds()
    if tree is not None:
        reading.refuse_unfit_buckets(bucket_seconds, leaves(tree))
        reading.refuse_unfit_parties(measures(tree), passing)
        reading.problems.extend(condition_parser.too_much_filtered(passing, tree))
    if tree is None or reading.problems:
        return None
    return RuleDefinition.chained(
        tree,
        firing=cast("Firing", firing),
        late_events=cast("LateEvents", late_events),
        bucket_seconds=bucket_seconds,
        filter=passing,
        cooldown_seconds=cooldown_seconds,
    )
