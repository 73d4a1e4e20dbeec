"""Rule files, and the rules of a registry that holds them."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

from hypothesis import strategies as st

from rules_registry.domain.rule_files.desired_rule import DesiredRule, RuleFile, read_rules
from rules_registry.domain.rule_files.standing import RuleChange, StandingRule
from tests.oracle.builders.drafts import definition_document
from tests.oracle.generators.definitions import random_draft
from tests.oracle.generators.profile import EVERYTHING
from tests.oracle.generators.world import random_world
from tests.unit.rules_registry.support.samples import NOW
from tripline_contracts import event_type_loader
from tripline_contracts.rules.rule_definition import RuleDefinition, parse

TRANSACTION = event_type_loader.load()
MUCH = """\
name: Much
groupingKeyNames: [payeeId]
aggregatorFunctionType: SUM
aggregateFieldName: paymentAmount
limitOperatorType: ">"
limit: 1000.50
windowMinutes: 20
"""


def desired(*texts: str) -> list[DesiredRule]:
    """The rules of a file with these documents."""
    return read_rules([RuleFile("rules/a.yaml", "---\n".join(texts))], TRANSACTION)


def standing(rule: DesiredRule, rule_id: int = 7, **changes: Any) -> StandingRule:
    """A rule that is as it is desired, at version 3, but for these changes."""
    members = {
        "rule_id": rule_id,
        "version": 3,
        "state": "ACTIVE",
        "name": rule.name or f"Rule {rule_id}",
        "definition": rule.definition.to_json(),
        "definition_hash": rule.definition.hash,
        "effective_from": NOW if rule.effective_from is None else rule.effective_from,
        "effective_until": rule.effective_until,
    }
    return StandingRule(**{**members, **changes})


def change(rule: DesiredRule, **changes: Any) -> RuleChange:
    """Change 12 by nina, submitted, that asks for what is desired of rule 7 at version 3."""
    members = {
        "change_id": 12,
        "revision": 1,
        "state": "SUBMITTED",
        "kind": "CHANGE_RULE",
        "rule_id": 7,
        "author": "nina",
        "content_hash": "c" * 64,
        "base": 3,
        "name": rule.name,
        "definition": rule.definition.to_json(),
        "definition_hash": rule.definition.hash,
        "effective_from": rule.effective_from,
        "effective_until": rule.effective_until,
    }
    return RuleChange(**{**members, **changes})


def _random_definition(seed: int) -> RuleDefinition:
    random = Random(seed)
    draft = random_draft(random, random_world(random, EVERYTHING), EVERYTHING)
    return parse(definition_document(draft), TRANSACTION)


DEFINITIONS = st.integers(0, 2**32).map(_random_definition)
"""Of every kind that there is: chained, bucketed, with filters, names and options."""
NAMES = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), min_size=1, max_size=60)


def all_standing(definitions: Iterable[tuple[str, RuleDefinition]]) -> list[StandingRule]:
    """Rules with these names and definitions, by id from 1 on."""
    return [
        StandingRule(rule_id, 1, "ACTIVE", name, definition.to_json(), definition.hash, NOW)
        for rule_id, (name, definition) in enumerate(definitions, 1)
    ]
