"""The use case that only looks: what is likely wrong with a rule that could be published."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Protocol

from rules_registry.domain.advice.advice import Surroundings, advise
from rules_registry.domain.advice.filter_reach import NamesNow
from rules_registry.domain.advice.rule_warning import RuleWarning, name_taken
from rules_registry.domain.history_quota import HistoryQuota
from rules_registry.domain.rule import Rule
from tripline_contracts.event_type import EventType
from tripline_contracts.rules.rule_definition import RuleDefinition


class Reads(Protocol):
    """What a definition is looked at beside."""

    def alike(self, definition: RuleDefinition, without: int | None) -> Sequence[Rule]:
        """Active rules that differ from the definition in limit and window at most, rule `without` left aside."""

    def named_alike(self, name: str, without: int | None) -> int | None:
        """The living rule with that name, in any case."""

    def values_of(self, name: str) -> Collection[str] | None:
        """The values of a list; None where there is none of that name."""

    def number_of(self, name: str) -> Decimal | None:
        """The value of a parameter; None where there is none of that name."""


@dataclass(frozen=True, slots=True)
class RuleAdvice:
    """Looks at definitions beside what there is."""

    reads: Reads
    event_type: EventType
    room: HistoryQuota | None = None

    def warnings(
        self, definition: RuleDefinition, name: str | None = None, rule_id: int | None = None
    ) -> tuple[RuleWarning, ...]:
        """Of a new rule, or of a new definition for the rule of that id."""
        # a list is looked into once, however many conditions name it
        names = NamesNow(cache(self.reads.values_of), cache(self.reads.number_of))
        beside = Surroundings(self.event_type, names, self.reads.alike(definition, rule_id), self.room)
        other = None if name is None else self.reads.named_alike(name, rule_id)
        taken = () if name is None or other is None else (name_taken(name, other),)
        return (*taken, *advise(definition, beside))
