"""The seeded rules, judged the slow way: a list per group, gone through anew for every transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from importlib import resources

from tripline_contracts.filters.filter_parser import All, Comparison, Filter
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.conditions import AllOf, Condition
from tripline_demo.generator.shape import Made
from tripline_demo.generator.trade import Trade

Fields = Mapping[str, str | None]


@dataclass(frozen=True)
class Sent:
    """A transaction and when it happened, in ms since the stream began."""

    trade: Trade
    made: Made
    event_time: int

    @cached_property
    def fields(self) -> Fields:
        """Its fields as texts."""
        record = json.loads(self.trade.json_value(self.made, "t", 0))
        return {name: None if value is None else str(value) for name, value in record.items()}


@dataclass(frozen=True, slots=True)
class Trip:
    """A rule of `seeded_rules` that tripped, and by which transaction."""

    rule: str
    sent: Sent


@dataclass(frozen=True, slots=True)
class NaiveRule:
    """A seeded rule."""

    name: str
    definition: rule_definition.RuleDefinition

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What has to hold, all of it."""
        tree = self.definition.conditions
        if tree is None:
            return self.definition.measured
        assert isinstance(tree, AllOf)
        return self.definition.measured

    @property
    def grouping(self) -> tuple[str, ...]:
        """That of each of its conditions."""
        (grouping,) = {condition.grouping_key_names for condition in self.conditions}
        return grouping

    def passes(self, sent: Sent) -> bool:
        """Whether the transaction counts, and may trip the rule."""
        has_group = all(sent.fields[name] is not None for name in self.grouping)
        return has_group and passes(self.definition.filter, sent.fields)

    def trips(self, window: list[Sent]) -> bool:
        """Whether the rule holds for the last one of what passes, given all of its group before it, and itself."""
        return all(holds(condition, window) for condition in self.conditions)


def holds(condition: Condition, passed: list[Sent]) -> bool:
    """Whether the condition does at the last one's time."""
    now, span = passed[-1].event_time, condition.window_seconds * 1_000
    window = [sent.fields for sent in passed if now - span <= sent.event_time <= now]
    field = condition.aggregate_field or ""
    match condition.function:
        case "COUNT":
            value = Decimal(len(window))
        case "COUNT_DISTINCT":
            value = Decimal(len({fields[field] for fields in window} - {None}))
        case "SUM":
            value = sum((Decimal(fields[field] or 0) for fields in window), Decimal())
        case "MAX":
            value = max(Decimal(fields[field] or 0) for fields in window)
        case other:
            raise NotImplementedError(other)
    assert condition.operator == ">"
    assert isinstance(condition.limit, Decimal)
    return value > condition.limit


def passes(only: Filter | None, fields: Fields) -> bool:
    """Of filters as far as seeds have them."""
    match only:
        case None:
            return True
        case All(operands):
            return all(passes(operand, fields) for operand in operands)
        case Comparison(field, "=", constant):
            return fields[field] == constant
        case Comparison(field, "<=", constant):
            return Decimal(fields[field] or 0) <= Decimal(constant)
        case other:
            raise NotImplementedError(other)


def seeded_rules(trade: Trade) -> list[NaiveRule]:
    """What demo/seed says for this trade, read through the contract."""
    file = resources.files("tripline_demo") / "seed" / f"{trade.event_type.name}.json"
    rules = []
    for body in json.loads(file.read_text(encoding="utf-8")):
        name = body.pop("name")
        rules.append(NaiveRule(name, rule_definition.parse(body, trade.event_type)))
    return rules


def trips(rules: Iterable[NaiveRule], stream: list[Sent]) -> list[Trip]:
    """Every trip of every rule, transaction by transaction in the order of the stream."""
    tripped = []
    for rule in rules:
        seen: dict[tuple[str | None, ...], list[Sent]] = defaultdict(list)
        for sent in stream:
            if not rule.passes(sent):
                continue
            group = seen[tuple(sent.fields[name] for name in rule.grouping)]
            group.append(sent)
            if rule.trips(group):
                tripped.append(Trip(rule.name, sent))
    return tripped
