"""The seeded rules, judged the slow way: a list per group, summed anew for every payment."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from importlib import resources

from tripline_contracts import event_type, rule_definition
from tripline_demo.generator.stream import Payment

TYPES = ("CSH", "CRD")


@dataclass(frozen=True, slots=True)
class Sent:
    """A payment and when it happened, in ms since the stream began."""

    payment: Payment
    event_time: int


@dataclass(frozen=True, slots=True)
class Trip:
    """A rule of `seeded_rules` that tripped, and by which payment."""

    rule: str
    sent: Sent
    value: int


@dataclass(frozen=True, slots=True)
class NaiveRule:
    """A seeded rule; amounts and the limit of an amount in cents."""

    name: str
    definition: rule_definition.RuleDefinition

    def group(self, payment: Payment) -> tuple[str, ...]:
        fields = {
            "payeeId": str(payment.payee),
            "beneficiaryId": str(payment.beneficiary),
            "paymentType": TYPES[payment.payment_type],
        }
        return tuple(fields[name] for name in self.definition.grouping_key_names)

    def value(self, window: list[Sent]) -> int:
        cents = [sent.payment.cents for sent in window]
        match self.definition.function:
            case "SUM":
                return sum(cents)
            case "MAX":
                return max(cents)
            case "COUNT":
                return len(cents) * 100
            case other:
                raise NotImplementedError(other)

    def trips(self, value: int) -> bool:
        limit = self.definition.limit
        assert self.definition.operator == ">"
        assert isinstance(limit, Decimal)
        return value > limit * 100


def seeded_rules() -> list[NaiveRule]:
    """What demo/seed/rules.json says, read through the contract."""
    text = (resources.files("tripline_demo") / "seed" / "rules.json").read_text(encoding="utf-8")
    transaction = event_type.load()
    rules = []
    for body in json.loads(text):
        name = body.pop("name")
        rules.append(NaiveRule(name, rule_definition.parse(body, transaction)))
    return rules


def trips(rules: Iterable[NaiveRule], stream: list[Sent]) -> list[Trip]:
    """Every trip of every rule, payment by payment in the order of the stream."""
    found = []
    for rule in rules:
        seen: dict[tuple[str, ...], list[Sent]] = defaultdict(list)
        span = rule.definition.window_seconds * 1_000
        for sent in stream:
            group = seen[rule.group(sent.payment)]
            group.append(sent)
            window = [x for x in group if sent.event_time - span <= x.event_time <= sent.event_time]
            value = rule.value(window)
            if rule.trips(value):
                found.append(Trip(rule.name, sent, value))
    return found
