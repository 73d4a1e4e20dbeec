"""Shadows in the registry: started, ended and promoted, each as an event of its own."""

from __future__ import annotations

from typing import Any

import pytest

from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import (
    ChangeOfRule,
    ChangeRule,
    DeleteRule,
    EndShadow,
    PauseRule,
    PromoteShadow,
    PublishRule,
    RollOutShadow,
    StartShadow,
)
from rules_registry.domain.event_record import to_json
from rules_registry.domain.review.content import command_of, content_of, needs_second_person
from rules_registry.domain.rule import Rule
from rules_registry.errors import (
    EndsTooEarly,
    NameTaken,
    RuleIsDeleted,
    RuleNotFound,
    StaleVersion,
    UnfitDefinition,
    WrongState,
)
from rules_registry.service.ports import Answer
from rules_registry.service.registry import Registry, RuleChange
from tests.unit.rules_registry.support.fakes import FakeStore, new_registry
from tests.unit.rules_registry.support.samples import NOW, SUM, definition
from tripline_contracts import event_type_loader, schemas

NARROW = definition(60, "payeeId")
ALIKE = definition(60)
"""Of the groups that the rule has."""
ADA = Actor("ada")


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def registry(store: FakeStore) -> Registry:
    """With rule 1, called A."""
    registry = new_registry(store)
    registry.publish(ADA, lambda rule_id: PublishRule(rule_id, "A", SUM, None), told)
    return registry


def told(done: RuleChange) -> Answer:
    return Answer(200, {}, {"version": done.rule.version})


def start(**other: Any) -> StartShadow:
    values: dict[str, Any] = {"rule_id": 1, "expected": None, "name": None, "definition": NARROW}
    return StartShadow(**{**values, "effective_from": None, **other})


def rule_of(store: FakeStore) -> Rule:
    rule = store.log.rule(1)
    assert rule is not None
    return rule


def test_a_shadow_runs_beside_the_rule_until_it_is_promoted(registry: Registry, store: FakeStore) -> None:
    registry.change(ADA, start(effective_from=5), told)
    rule = rule_of(store)
    assert (rule.version, rule.definition_version, rule.name, rule.definition) == (2, 1, "A", SUM)
    assert rule.shadow is not None
    assert (rule.shadow.version, rule.shadow.definition, rule.shadow.effective_from) == (2, NARROW, 5)
    registry.change(ADA, PauseRule(1, None), told)
    registry.change(ADA, PromoteShadow(1, None), told)
    rule = rule_of(store)
    assert (rule.version, rule.definition_version, rule.state) == (4, 2, "PAUSED")
    assert (rule.definition, rule.effective_from, rule.shadow) == (NARROW, 5, None)


def test_every_event_keeps_the_contract(registry: Registry, store: FakeStore) -> None:
    commands = (
        start(definition=ALIKE),
        EndShadow(1, None),
        start(definition=ALIKE, name="B"),
        RollOutShadow(1, None, 5),
        RollOutShadow(1, None, 99),
        PromoteShadow(1, None),
    )
    for command in commands:
        registry.change(ADA, command, told)
    check = schemas.validator("rules.v1")
    values = [to_json(recorded) for recorded in store.log.recorded]
    for number, value in enumerate(values, 1):
        check(value | {"eventId": f"00000000-0000-4000-8000-{number:012}"})
    kinds = [
        "RulePublished",
        "RuleShadowStarted",
        "RuleShadowEnded",
        "RuleShadowStarted",
        "RuleShadowRolledOut",
        "RuleShadowRolledOut",
        "RuleShadowPromoted",
    ]
    assert [value["type"] for value in values] == kinds
    assert [value["definitionVersion"] for value in values] == [1, 2, 1, 4, 4, 4, 4]
    hashes = [SUM.hash if number in (0, 2) else ALIKE.hash for number in range(7)]
    assert [value["definitionHash"] for value in values] == hashes
    assert [value["name"] for value in values] == ["A", "A", "A", "B", "B", "B", "B"]
    assert {value["effectiveFrom"] for value in values} == {NOW}
    assert [value.get("percent") for value in values] == [None, None, None, None, 5, 99, None]


def test_a_rollout_widens_and_goes_with_the_shadow(registry: Registry, store: FakeStore) -> None:
    registry.change(ADA, start(definition=ALIKE), told)
    shares = []
    for command in (
        RollOutShadow(1, None, 10),
        PauseRule(1, None),
        RollOutShadow(1, None, 11),
        EndShadow(1, None),
        start(definition=ALIKE),
    ):
        registry.change(ADA, command, told)
        rule = rule_of(store)
        shares.append(rule.shadow and rule.shadow.percent)
        assert (rule.definition, rule.definition_version) == (SUM, 1)
    assert shares == [10, 10, 11, None, 0]


@pytest.mark.parametrize("percent", [20, 19, 1])
def test_what_is_no_wider_names_the_percent(registry: Registry, store: FakeStore, percent: int) -> None:
    registry.change(ADA, start(definition=ALIKE), told)
    registry.change(ADA, RollOutShadow(1, None, 20), told)
    with pytest.raises(UnfitDefinition) as refused:
        registry.change(ADA, RollOutShadow(1, None, percent), told)
    [problem] = refused.value.problems
    assert (problem.field, "above 20" in problem.message) == ("percent", True)
    assert rule_of(store).version == 3


def test_the_trail_says_what_runs_beside_the_rule_and_that_the_rule_stays(
    registry: Registry, store: FakeStore
) -> None:
    registry.change(ADA, start(), told)
    registry.change(ADA, EndShadow(1, None), told)
    started, ended = (entry.members() for entry in store.log.audit[-2:])
    assert started["type"] == "RuleShadowStarted"
    assert started["before"]["definitionHash"] == SUM.hash
    assert started["after"]["definitionHash"] == NARROW.hash
    assert ended["before"]["definitionHash"] == ended["after"]["definitionHash"] == SUM.hash


def test_the_trail_says_how_far_the_shadow_is_rolled_out(registry: Registry, store: FakeStore) -> None:
    registry.change(ADA, start(definition=ALIKE), told)
    registry.change(ADA, RollOutShadow(1, None, 30), told)
    entry = store.log.audit[-1].members()
    assert entry["type"] == "RuleShadowRolledOut"
    assert entry["before"]["definitionHash"] == SUM.hash
    after = entry["after"]
    assert (after["definitionHash"], after["definitionVersion"], after["percent"]) == (ALIKE.hash, 2, 30)


def test_what_needs_history_is_what_rules_need(registry: Registry, store: FakeStore) -> None:
    before = store.log.recorded[-1].widest
    registry.change(ADA, start(definition=definition(999_999, "payeeId")), told)
    assert store.log.recorded[-1].widest == before
    registry.change(ADA, PromoteShadow(1, None), told)
    assert [window["windowSeconds"] for window in store.log.recorded[-1].widest] == [999_999]


@pytest.mark.parametrize(
    ("first", "refused", "error"),
    [
        ([], EndShadow(1, None), WrongState),
        ([], PromoteShadow(1, None), WrongState),
        ([start()], start(), WrongState),
        ([], RollOutShadow(1, None, 10), WrongState),
        ([start(definition=NARROW)], RollOutShadow(1, None, 10), WrongState),
        ([start(definition=ALIKE)], RollOutShadow(1, frozenset({1}), 10), StaleVersion),
        ([start(), EndShadow(1, None)], RollOutShadow(1, None, 10), WrongState),
        ([start()], ChangeRule(1, None, None, NARROW, None), WrongState),
        ([start(), DeleteRule(1, None)], PromoteShadow(1, None), RuleIsDeleted),
        ([start(), EndShadow(1, None)], PromoteShadow(1, None), WrongState),
        ([], start(expected=frozenset({9})), StaleVersion),
        ([], start(rule_id=7), RuleNotFound),
        ([], start(effective_from=9, effective_until=9), EndsTooEarly),
        ([], start(name="taken"), NameTaken),
    ],
)
def test_what_is_refused_changes_nothing(
    registry: Registry,
    store: FakeStore,
    first: list[ChangeOfRule],
    refused: ChangeOfRule,
    error: type[Exception],
) -> None:
    registry.publish(ADA, lambda rule_id: PublishRule(rule_id, "taken", SUM, None), told)
    for command in first:
        registry.change(ADA, command, told)
    rule, events = store.log.rule(1), len(store.log.recorded)
    with pytest.raises(error):
        registry.change(ADA, refused, told)
    assert (store.log.rule(1), len(store.log.recorded)) == (rule, events)


def test_an_anchor_that_no_rule_keeps_is_named() -> None:
    registry = new_registry(FakeStore())
    registry.publish(ADA, lambda rule_id: PublishRule(rule_id, "A", definition(60, "payeeId"), None), told)
    with pytest.raises(UnfitDefinition) as refused:
        registry.change(ADA, start(definition=definition(60, "beneficiaryId")), told)
    [problem] = refused.value.problems
    assert (problem.field, "beneficiaryId" in problem.message) == ("groupingKeyNames", True)


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        (start(), True),
        (RollOutShadow(1, None, 10), True),
        (PromoteShadow(1, None), True),
        (EndShadow(1, None), False),
    ],
)
def test_a_second_person_sees_what_starts_and_what_counts(command: ChangeOfRule, needed: bool) -> None:
    content = content_of(command, None)
    assert needs_second_person(command) is needed
    assert command_of(content, event_type_loader.load()) == command
