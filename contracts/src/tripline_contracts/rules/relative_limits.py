"""Limits that are measured too: `times` the value of another measure, `plus` a number (specification §10)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from tripline_contracts import decimals
from tripline_contracts.filters.filter_parser import Filter
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules.aggregate import Function
from tripline_contracts.rules.grouping_keys import grouping_json

Json = dict[str, object]
Number = Decimal | Parameter


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What of its window a measure takes, and from how much on it has a value.

    The window ends `offset_seconds` before the transaction at hand, which is in it only where these are 0 and
    `include_current` is true. With fewer than `minimum_count` contributors the measure has no value.
    """

    offset_seconds: int = 0
    include_current: bool = True
    minimum_count: int = 0

    def to_json(self) -> Json:
        """What is not as it is by default: a condition without any of it keeps the JSON that it had before."""
        said: Json = {}
        if self.offset_seconds:
            said["offsetSeconds"] = self.offset_seconds
        if not self.include_current:
            said["includeCurrent"] = False
        if self.minimum_count:
            said["minimumCount"] = self.minimum_count
        return said

    @property
    def takes_all(self) -> bool:
        """Whether it is the whole window, the transaction at hand with it."""
        return self.include_current and not self.offset_seconds


WHOLE = Excerpt()
"""The window as a rule has it that says nothing about it."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The measure behind a relative limit: a condition without operator and limit."""

    grouping_key_names: tuple[str, ...]
    function: Function
    aggregate_field: str | None
    window_seconds: int
    filter: Filter | None = None
    excerpt: Excerpt = WHOLE

    @property
    def reach_seconds(self) -> int:
        """How far back its window begins."""
        return self.window_seconds + self.excerpt.offset_seconds

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        normalised: Json = {
            "groupingKeyNames": grouping_json(self.grouping_key_names),
            "aggregatorFunctionType": self.function,
            "aggregateFieldName": self.aggregate_field,
            "windowSeconds": self.window_seconds,
            **self.excerpt.to_json(),
        }
        return normalised if self.filter is None else {**normalised, "filter": self.filter.to_json()}


@dataclass(frozen=True, slots=True)
class RelativeLimit:
    """The limit `times × measure + plus`; with `plus_deviations`, so many deviations of the same window more.

    These are there beside an AVG alone.
    """

    measure: Baseline
    times: Number
    plus: Number
    plus_deviations: Number | None = None

    @property
    def numbers(self) -> tuple[Number, ...]:
        """All that it goes by."""
        deviations = () if self.plus_deviations is None else (self.plus_deviations,)
        return (self.times, self.plus, *deviations)

    def to_json(self) -> Json:
        """The normalised form, which reads back to an equal value."""
        said = {
            "measure": self.measure.to_json(),
            "times": number_json(self.times),
            "plus": number_json(self.plus),
        }
        if self.plus_deviations is not None:
            said["plusDeviations"] = number_json(self.plus_deviations)
        return said

    def parameters(self) -> frozenset[str]:
        """Names of the parameters that it goes by."""
        named = frozenset(number.name for number in self.numbers if isinstance(number, Parameter))
        passing = self.measure.filter
        return named if passing is None else named | passing.parameters()


def number_json(number: Number) -> object:
    """A number, or the parameter that gives it, as a definition writes it."""
    return number.to_json() if isinstance(number, Parameter) else decimals.plain(number)
