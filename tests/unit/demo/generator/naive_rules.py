"""The seeded rules, judged the slow way: a list per group, gone through anew for every transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from importlib import resources
from itertools import repeat

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
        assert tree is None or isinstance(tree, AllOf)
        return self.definition.measured

    @property
    def grouping(self) -> frozenset[str]:
        """The fields of its group: those that any of its conditions groups by."""
        return frozenset(name for one in self.conditions for name in one.grouping_key_names)

    def counts(self, condition: Condition, sent: Sent) -> bool:
        """Whether the transaction counts for the condition."""
        filters = (self.definition.filter, condition.filter)
        has_group = all(sent.fields[name] is not None for name in condition.grouping_key_names)
        return has_group and all(passes(only, sent.fields) for only in filters)

    def trips(self, stream: list[Sent]) -> bool:
        """Whether the rule holds for the last one, given all before it, and itself."""
        return bool(judged(self, stream)[-1:] == [stream[-1]])


def judged(rule: NaiveRule, stream: Iterable[Sent]) -> list[Sent]:
    """Those for which the rule holds, in the order of the stream."""
    conditions, grouping, tripped = rule.conditions, rule.grouping, []
    counted: list[dict[tuple[str | None, ...], list[Sent]]] = [defaultdict(list) for _ in conditions]
    for sent in stream:
        counts = [rule.counts(condition, sent) for condition in conditions]
        if not any(counts):
            continue
        groups = [tuple(sent.fields[name] for name in one.grouping_key_names) for one in conditions]
        lists = [of_group[group] for of_group, group in zip(counted, groups, strict=True)]
        for listed, is_counted in zip(lists, counts, strict=True):
            if is_counted:
                listed.append(sent)
        has_group = all(sent.fields[name] is not None for name in grouping)
        if has_group and all(map(holds, conditions, lists, repeat(sent))):
            tripped.append(sent)
    return tripped


def holds(condition: Condition, counted: list[Sent], judged: Sent) -> bool:
    """Whether the condition does at the time of the one that is judged, given what has counted in its group so far."""
    now, span = judged.event_time, condition.window_seconds * 1_000
    assert not condition.excerpt.offset_seconds
    assert not condition.excerpt.minimum_count
    inside = condition.excerpt.include_current
    window = [
        sent.fields
        for sent in counted
        if now - span <= sent.event_time <= now and (inside or sent is not judged)
    ]
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
    assert isinstance(condition.limit, Decimal)
    assert condition.operator in (">", "=")
    return value > condition.limit if condition.operator == ">" else value == condition.limit


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
    return [Trip(rule.name, sent) for rule in rules for sent in judged(rule, stream)]
