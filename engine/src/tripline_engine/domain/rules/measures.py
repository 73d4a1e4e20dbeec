"""Measures: the conditions of a rule, each with the population whose windows it reads.

The conditions of a chained rule are evaluated at each transaction that triggers the rule, whether it passes the
condition's own filter or not. So the lists of a condition hold all triggering transactions, and of these only the
members count.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from tripline_contracts import decimals
from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.filters.filter_parser import All, Any_, Filter
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules.aggregate import OF_ORDER
from tripline_contracts.rules.conditions import Condition
from tripline_contracts.rules.relative_limits import Baseline, Excerpt, RelativeLimit
from tripline_contracts.rules.rule_definition import Function, RuleDefinition
from tripline_engine.domain.rules.exclusions import NO_EXCLUSIONS, Exclusions
from tripline_engine.domain.rules.threshold import Threshold

EVENT_TIME: Final = "~time"
"""Stands for the event time among the fields of extremes; no field is called so."""


@dataclass(frozen=True, slots=True)
class Population:
    """The transactions that form a rule's groups: those that pass ``filter``, grouped by ``fields``.

    :ivar name: of its arrays, and what comparisons look at: filters can be large trees
    :ivar exclusions: transactions that are left out too
    """

    name: str
    fields: tuple[str, ...] = field(compare=False)
    filter: Filter | None = field(compare=False)
    exclusions: Exclusions = field(default=NO_EXCLUSIONS, compare=False)

    @staticmethod
    def of(fields: tuple[str, ...], condition: Filter | None, exclusions: Exclusions) -> Population:
        """The population of those that pass the condition and are not excluded, grouped by these fields."""
        name = "+".join(fields) + exclusions.suffix
        if condition is not None:
            name += f".if.{sha256_hex(canonical_json(condition.to_json()))[:32]}"
        return Population(name, fields, condition, exclusions)


class TotalsKey(NamedTuple):
    """Count and sum of a population's members; ``field`` None for a count that looks at no field.

    :ivar used: the fields on which visibility depends, here and in the other keys
    """

    population: Population
    members: Population
    field: str | None
    used: frozenset[str]

    @property
    def name(self) -> str:
        """The part of its arrays' names that is its own."""
        return f"sum.{self.field or ''}{_special(self)}"


class ChainKey(NamedTuple):
    """Least (sign 1) or greatest (sign -1) value of a field among a population's members."""

    population: Population
    members: Population
    field: str
    sign: int
    used: frozenset[str]

    @property
    def name(self) -> str:
        """The part of its arrays' names that is its own."""
        return f"{'min' if self.sign > 0 else 'max'}.{self.field}{_special(self)}"


class DistinctKey(NamedTuple):
    """Number of different values of a field; a member belongs to its group and value together."""

    population: Population
    members: Population
    field: str
    used: frozenset[str]

    @property
    def name(self) -> str:
        """The part of its arrays' names that is its own."""
        return f"distinct.{self.field}{_special(self)}"


class SquareKey(NamedTuple):
    """Sum of the squares of a population's members."""

    population: Population
    members: Population
    field: str
    used: frozenset[str]

    @property
    def name(self) -> str:
        """The part of its arrays' names that is its own."""
        return f"squares.{self.field}{_special(self)}"


class BucketKey(NamedTuple):
    """A bucket set: aggregates of a population's members by bucket of event time (`precision: bucketed`)."""

    population: Population
    members: Population
    field: str | None
    length_ms: int
    used: frozenset[str]
    cleared_by: tuple[int, int] | None

    @property
    def name(self) -> str:
        """The part of its arrays' names that is its own."""
        cleared = "" if self.cleared_by is None else f".{self.cleared_by[0]}.{self.cleared_by[1]}"
        return f"buckets.{self.field or ''}.{self.length_ms}{_special(self)}{cleared}"

    def path(self, anchor: str) -> str:
        """The set's name among all of a shard."""
        return f"{anchor}.by.{self.population.name}.{self.name}"


@dataclass(frozen=True, slots=True)
class Measure:
    """One condition of a rule, or the measure behind its limit.

    :ivar source: what the definition says of it
    :ivar population: the transactions at which it is read
    :ivar members: those of them that contribute; of COUNT_DISTINCT grouped by the value too
    :ivar totals: the totals that it reads; most functions read only their count
    :ivar chain: the chain that MIN and MAX read; of SECONDS_SINCE_FIRST that of the oldest
    :ivar distinct: what COUNT_DISTINCT reads
    :ivar squares: what STDDEV, and an average whose deviations are in a limit, reads beside the totals
    :ivar buckets: what all functions read in a bucketed rule, in place of the other four
    :ivar constant: the limit, unless it is a parameter or relative
    :ivar baseline: the measure behind a relative limit
    """

    source: Condition | Baseline
    population: Population
    members: Population
    totals: TotalsKey | None
    chain: ChainKey | None
    distinct: DistinctKey | None
    squares: SquareKey | None
    buckets: BucketKey | None
    constant: Threshold | None
    baseline: Measure | None = None

    @property
    def condition(self) -> Condition:
        """The condition, of what is not behind a limit."""
        assert isinstance(self.source, Condition)
        return self.source

    @property
    def function(self) -> Function:
        """The aggregate function."""
        return self.source.function

    @property
    def excerpt(self) -> Excerpt:
        """What is taken of the window."""
        return self.source.excerpt

    @property
    def window_ms(self) -> int:
        """How far back the window begins: its length, and the offset before which it ends."""
        return self.source.reach_seconds * 1000

    @property
    def offset_ms(self) -> int:
        """How long before the transaction the window ends, that moment excluded; 0: with the transaction."""
        return self.excerpt.offset_seconds * 1000

    @property
    def lengths_ms(self) -> tuple[int, ...]:
        """The windows up to the transaction that it reads: its own is the first one less the second."""
        return (self.window_ms, self.offset_ms) if self.offset_ms else (self.window_ms,)

    @property
    def is_walked(self) -> bool:
        """Whether it is read by a walk through its window: what has no inverse can't be taken out again."""
        return not self.excerpt.takes_all and self.function in ("MIN", "MAX", "COUNT_DISTINCT")

    @property
    def with_baseline(self) -> tuple[Measure, ...]:
        """It, and the measure behind its limit."""
        return (self,) if self.baseline is None else (self, self.baseline)

    def window_start(self, time: int) -> int:
        """The start of the window of a transaction at that event time (both ms)."""
        return window_start(time, self.window_ms, self.buckets.length_ms if self.buckets else None)

    @property
    def sign(self) -> int:
        """The order of an extreme: 1 for MIN, -1 for MAX."""
        return -1 if self.function == "MAX" else 1


def window_start(time: int, window_ms: int, bucket_ms: int | None) -> int:
    """The start of a window that ends at ``time``, all in ms; with buckets it is the start of one."""
    exact = time - window_ms
    return exact if bucket_ms is None else exact // bucket_ms * bucket_ms


def population_of(definition: RuleDefinition, exclusions: Exclusions) -> Population:
    """The transactions that trigger a rule, by its groups."""
    return Population.of(definition.grouping_key_names, _trigger(definition), exclusions)


def measures_of(
    definition: RuleDefinition, used: frozenset[str], exclusions: Exclusions
) -> tuple[Measure, ...]:
    """The conditions of a rule, which uses the fields ``used``, in the order of its definition."""
    trigger, seconds = _trigger(definition), definition.bucket_seconds
    length = None if seconds is None else seconds * 1000
    shared = (definition.filter, used, exclusions, length)
    measures = []
    for condition in definition.measured:
        behind = None
        if condition.baseline is not None:
            # what contributes to a limit need not trigger
            entering = _trigger(definition, condition.baseline)
            behind = _measure(condition.baseline, entering, *shared, squared=condition.in_deviations)
        measures.append(replace(_measure(condition, trigger, *shared), baseline=behind))
    return tuple(measures)


def _measure(
    condition: Condition | Baseline,
    entering: Filter | None,
    rule_filter: Filter | None,
    used: frozenset[str],
    exclusions: Exclusions,
    bucket_ms: int | None,
    *,
    squared: bool = False,
) -> Measure:
    function, field_name, fields = condition.function, condition.aggregate_field, condition.grouping_key_names
    is_distinct = function == "COUNT_DISTINCT"
    member_fields = tuple(sorted({*fields, field_name or ""})) if is_distinct else fields
    population = Population.of(fields, entering, exclusions)
    members = Population.of(member_fields, _both(rule_filter, condition.filter), exclusions)
    buckets = None
    if bucket_ms is not None:
        buckets = BucketKey(population, members, field_name, bucket_ms, used, exclusions.cleared_by)
    measure = Measure(condition, population, members, None, None, None, None, buckets, _constant(condition))
    if buckets is not None or measure.is_walked:
        return measure
    if is_distinct:
        return replace(measure, distinct=DistinctKey(population, members, field_name or "", used))
    summed = None if function in OF_ORDER else field_name
    extreme_of = {"MIN": field_name, "MAX": field_name, "SECONDS_SINCE_FIRST": EVENT_TIME}.get(function)
    squares = SquareKey(population, members, field_name or "", used)
    return replace(
        measure,
        totals=TotalsKey(population, members, summed, used),
        chain=None if extreme_of is None else ChainKey(population, members, extreme_of, measure.sign, used),
        squares=squares if squared or function == "STDDEV" else None,
    )


def _constant(condition: Condition | Baseline) -> Threshold | None:
    """The limit that stands in the definition."""
    if isinstance(condition, Baseline) or isinstance(condition.limit, (Parameter, RelativeLimit)):
        return None
    return Threshold(condition.operator, decimals.to_scaled(condition.limit))


def _trigger(definition: RuleDefinition, *others: Baseline) -> Filter | None:
    """A transaction triggers if it passes the rule's filter and that of some condition; or of these others."""
    triggering: tuple[Condition | Baseline, ...] = (*definition.measured, *others)
    all_filters = [measure.filter for measure in triggering]
    filters = tuple(filter_ for filter_ in all_filters if filter_ is not None)
    if len(filters) < len(all_filters):
        return definition.filter
    # in canonical order: rules with the same trigger share bucket sets
    by_json = {canonical_json(filter_.to_json()): filter_ for filter_ in filters}
    distinct = tuple(by_json[name] for name in sorted(by_json))
    return _both(definition.filter, distinct[0] if len(distinct) == 1 else Any_(distinct))


def _both(first: Filter | None, second: Filter | None) -> Filter | None:
    if first is None or second is None:
        return first or second
    return All((first, second))


def _special(key: TotalsKey | ChainKey | DistinctKey | SquareKey | BucketKey) -> str:
    """A suffix that tells it from others of its kind over the same population."""
    return f".{sha256_hex(canonical_json([key.members.name, *sorted(key.used)]))[:16]}"
