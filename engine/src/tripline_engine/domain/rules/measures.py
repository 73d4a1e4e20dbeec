"""What a rule measures: its condition, or several of them, each over a population of transactions.

The conditions of a chained rule are read at each transaction that triggers the rule, whether it passes the
condition's own filter or not. So the lists of a condition hold all triggering transactions, and of these only the
members count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tripline_contracts import decimals
from tripline_contracts.canonical import canonical_json, sha256_hex
from tripline_contracts.conditions import Condition
from tripline_contracts.filters import All, Any_, Filter
from tripline_contracts.names import Parameter
from tripline_contracts.rule_definition import Function, RuleDefinition
from tripline_engine.domain.rules.exclusions import NO_EXCLUSIONS, Exclusions
from tripline_engine.domain.rules.threshold import Threshold


@dataclass(frozen=True, slots=True)
class Population:
    """Whose transactions form a rule's groups: grouped by ``fields``, those that pass ``filter``.

    :ivar name: names its arrays, and stands for the whole in comparisons: filters can be large trees
    :ivar exclusions: what is left out besides
    """

    name: str
    fields: tuple[str, ...] = field(compare=False)
    filter: Filter | None = field(compare=False)
    exclusions: Exclusions = field(default=NO_EXCLUSIONS, compare=False)

    @staticmethod
    def of(fields: tuple[str, ...], condition: Filter | None, exclusions: Exclusions) -> Population:
        """Those that pass the condition and are not excluded, grouped by these fields."""
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
        """For the names of its arrays."""
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
        """For the names of its arrays."""
        return f"{'min' if self.sign > 0 else 'max'}.{self.field}{_special(self)}"


class DistinctKey(NamedTuple):
    """How many different values a field has; a member belongs to the group and its value together."""

    population: Population
    members: Population
    field: str
    used: frozenset[str]

    @property
    def name(self) -> str:
        """For the names of its arrays."""
        return f"distinct.{self.field}{_special(self)}"


class BucketKey(NamedTuple):
    """A bucket set: what a population's members come to by buckets of event time (`precision: bucketed`)."""

    population: Population
    members: Population
    field: str | None
    length_ms: int
    used: frozenset[str]
    cleared_by: tuple[int, int] | None

    @property
    def name(self) -> str:
        """For the names of its arrays."""
        apart = "" if self.cleared_by is None else f".{self.cleared_by[0]}.{self.cleared_by[1]}"
        return f"buckets.{self.field or ''}.{self.length_ms}{_special(self)}{apart}"

    def path(self, anchor: str) -> str:
        """Names the set among all of a shard."""
        return f"{anchor}.by.{self.population.name}.{self.name}"


@dataclass(frozen=True, slots=True)
class Measure:
    """One condition of a rule.

    :ivar population: the transactions at which it is read
    :ivar members: those of them that contribute; of COUNT_DISTINCT grouped by the value too
    :ivar totals: the totals that it reads; MIN and MAX read only their count
    :ivar chain: the chain that MIN and MAX read
    :ivar distinct: what COUNT_DISTINCT reads
    :ivar buckets: what all functions read in a bucketed rule, in place of the other three
    :ivar constant: the limit, unless it is a parameter
    """

    condition: Condition
    population: Population
    members: Population
    totals: TotalsKey | None
    chain: ChainKey | None
    distinct: DistinctKey | None
    buckets: BucketKey | None
    constant: Threshold | None

    @property
    def function(self) -> Function:
        """What it works out."""
        return self.condition.function

    @property
    def window_ms(self) -> int:
        """Length of the window."""
        return self.condition.window_seconds * 1000

    def window_start(self, time: int) -> int:
        """Where the window of a transaction at that event time begins (both ms)."""
        return window_start(time, self.window_ms, self.buckets.length_ms if self.buckets else None)

    @property
    def sign(self) -> int:
        """Of MIN and MAX: 1 if less is better, -1 if more is."""
        return -1 if self.condition.function == "MAX" else 1


def window_start(time: int, window_ms: int, bucket_ms: int | None) -> int:
    """Where a window that ends at ``time`` begins, all in ms: with whole buckets at the start of one."""
    exact = time - window_ms
    return exact if bucket_ms is None else exact // bucket_ms * bucket_ms


def population_of(definition: RuleDefinition, exclusions: Exclusions) -> Population:
    """The transactions that trigger a rule, by its groups."""
    return Population.of(definition.grouping_key_names, _trigger(definition), exclusions)


def measures_of(
    definition: RuleDefinition, used: frozenset[str], exclusions: Exclusions
) -> tuple[Measure, ...]:
    """The conditions of a rule, in the order of its definition.

    :param used: the fields that it uses
    """
    trigger, seconds = _trigger(definition), definition.bucket_seconds
    length = None if seconds is None else seconds * 1000
    each = (definition.filter, trigger, used, exclusions, length)
    return tuple(_measure(condition, *each) for condition in definition.measured)


def _measure(
    condition: Condition,
    own: Filter | None,
    trigger: Filter | None,
    used: frozenset[str],
    exclusions: Exclusions,
    bucket_ms: int | None,
) -> Measure:
    function, measured, fields = condition.function, condition.aggregate_field, condition.grouping_key_names
    different = function == "COUNT_DISTINCT"
    counted = tuple(sorted({*fields, measured or ""})) if different else fields
    population = Population.of(fields, trigger, exclusions)
    members = Population.of(counted, _both(own, condition.filter), exclusions)
    sign = -1 if function == "MAX" else 1
    chained = measured is not None and function in ("MIN", "MAX")
    limit, bucketed = condition.limit, bucket_ms is not None
    return Measure(
        condition=condition,
        population=population,
        members=members,
        totals=None if different or bucketed else TotalsKey(population, members, measured, used),
        chain=ChainKey(population, members, measured or "", sign, used) if chained and not bucketed else None,
        distinct=DistinctKey(population, members, measured or "", used) if different else None,
        buckets=None
        if bucket_ms is None
        else BucketKey(population, members, measured, bucket_ms, used, exclusions.cleared_by),
        constant=None
        if isinstance(limit, Parameter)
        else Threshold(condition.operator, decimals.to_scaled(limit)),
    )


def _trigger(definition: RuleDefinition) -> Filter | None:
    """A transaction triggers if it passes the rule's filter and that of some condition."""
    own = [condition.filter for condition in definition.measured]
    filters = tuple(filter_ for filter_ in own if filter_ is not None)
    if len(filters) < len(own):
        return definition.filter
    # whatever their order: bucket sets are shared by what triggers
    different = {canonical_json(each.to_json()): each for each in filters}
    some = tuple(different[name] for name in sorted(different))
    return _both(definition.filter, some[0] if len(some) == 1 else Any_(some))


def _both(first: Filter | None, second: Filter | None) -> Filter | None:
    if first is None or second is None:
        return first or second
    return All((first, second))


def _special(key: TotalsKey | ChainKey | DistinctKey | BucketKey) -> str:
    """What sets it apart from others of its kind over the same population."""
    return f".{sha256_hex(canonical_json([key.members.name, *sorted(key.used)]))[:16]}"
