"""What a rule is for: versions of its own, an entry of the trail for each, no event; and which texts it takes."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
import pytest

from rules_registry.api.rule_schemas.purpose_schemas import PurposeSchema
from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import DeleteRule, PublishRule
from rules_registry.domain.purposes.rule_purpose import KeptPurpose, Purpose
from rules_registry.errors import RuleIsDeleted, RuleNotFound, StaleVersion
from rules_registry.service.ports import Answer
from rules_registry.service.purposes import Purposes
from rules_registry.service.registry import RuleChange
from tests.unit.rules_registry.support.fakes import FakeClock, FakeStore, new_registry
from tests.unit.rules_registry.support.samples import NOW, SUM

ADA = Actor("ada", "analyst", "r-1", "the playbook has moved")
PURPOSE = Purpose("Cards that are tried out", "high", ("cards", "night"), "Fraud desk", "https://wiki/cards")
ADDRESS = "https://wiki.example:8443/a/b?c=d#e"


def answer(change: RuleChange) -> Answer:
    return Answer(200, {}, change.purpose.to_json())


@pytest.fixture
def store() -> FakeStore:
    """With rule 1."""
    store = FakeStore()
    new_registry(store).publish(ADA, lambda rule_id: PublishRule(rule_id, None, SUM, None), answer)
    return store


@pytest.fixture
def purposes(store: FakeStore) -> Purposes:
    return Purposes(store, FakeClock())


def test_a_change_has_a_version_and_an_entry_and_no_event(store: FakeStore, purposes: Purposes) -> None:
    rule, events = store.log.rule(1), store.types()
    assert purposes.change(ADA, 1, frozenset({0}), PURPOSE) == KeptPurpose(1, PURPOSE)
    assert purposes.change(ADA, 1, frozenset({1}), Purpose(severity="low")).version == 2
    assert (store.log.rule(1), store.types()) == (rule, events)
    first, second = (entry.members() for entry in store.log.audit[-2:])
    assert first["before"] is None
    assert first["after"] == second["before"] == PURPOSE.to_json()
    assert second["after"] == Purpose(severity="low").to_json()
    told = {name: second[name] for name in ("type", "occurredAt", "actor", "role", "requestId", "reason")}
    assert told == {
        "type": "RulePurposeChanged",
        "occurredAt": NOW,
        "actor": "ada",
        "role": "analyst",
        "requestId": "r-1",
        "reason": "the playbook has moved",
    }
    assert (second["subject"], second["position"]) == ({"kind": "rule", "id": "1"}, None)


def test_the_same_again_changes_nothing(store: FakeStore, purposes: Purposes) -> None:
    purposes.change(ADA, 1, None, PURPOSE)
    entries = len(store.log.audit)
    assert purposes.change(ADA, 1, frozenset({1}), PURPOSE).version == 1
    assert len(store.log.audit) == entries


def test_a_change_of_the_rule_answers_with_its_purpose(store: FakeStore, purposes: Purposes) -> None:
    purposes.change(ADA, 1, None, PURPOSE)
    told = new_registry(store).change(ADA, DeleteRule(1, None), answer)
    assert told.body == PURPOSE.to_json()


def test_what_is_refused_leaves_nothing(store: FakeStore, purposes: Purposes) -> None:
    with pytest.raises(RuleNotFound):
        purposes.change(ADA, 2, None, PURPOSE)
    with pytest.raises(StaleVersion) as stale:
        purposes.change(ADA, 1, frozenset({1}), PURPOSE)
    assert stale.value.current == 0, "the version of the rule is another one"
    new_registry(store).change(ADA, DeleteRule(1, None), answer)
    with pytest.raises(RuleIsDeleted):
        purposes.change(ADA, 1, None, PURPOSE)
    assert store.log.purposes.get(1) == KeptPurpose()


READ: list[tuple[dict[str, Any], Purpose, str]] = [
    ({}, Purpose(), "nothing is said"),
    ({"tags": [], "severity": None, "owner": None}, Purpose(), "null is nothing"),
    (PURPOSE.to_json(), PURPOSE, "as it was answered"),
    ({"description": "Two\nlines"}, Purpose("Two\nlines"), "several lines"),
    ({"playbook": ADDRESS}, Purpose(playbook=ADDRESS), "a whole address"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected", "reason"), READ, ids=[case[-1] for case in READ])
def test_read(body: dict[str, Any], expected: Purpose, reason: str) -> None:
    assert PurposeSchema().load(body) == expected, reason


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"severity": "HIGH"}, "another spelling"),
    ({"description": ""}, "an empty text"),
    ({"description": "x" * 2001}, "too long"),
    ({"description": "gnp.\u202eexe"}, "read from the right"),
    ({"owner": "two\nlines"}, "an owner in two lines"),
    ({"owner": "adm\u200bin"}, "an owner who looks like another"),
    ({"tags": ["a", "a"]}, "a tag twice"),
    ({"tags": ["Night"]}, "a capital letter"),
    ({"tags": ["a\n"]}, "a line's end"),
    ({"tags": [f"t{number}" for number in range(21)]}, "too many"),
    ({"tags": None}, "no list"),
    ({"playbook": "http://wiki/cards"}, "not https"),
    ({"playbook": "javascript:alert(1)"}, "a program"),
    ({"playbook": "https://bank.example@evil.example/"}, "a user that looks like the host"),
    ({"playbook": "https://wiki/a b"}, "a space"),
    ({"playbook": "https://wiki/\n"}, "a line's end in an address"),
    ({"team": "x"}, "an unknown member"),
]


@pytest.mark.parametrize(("body", "reason"), WRONG, ids=[case[-1] for case in WRONG])
def test_wrong(body: dict[str, Any], reason: str) -> None:
    with pytest.raises(ma.ValidationError) as refused:
        PurposeSchema().load(body)
    assert isinstance(refused.value.messages, dict)
    assert set(refused.value.messages) == set(body), reason
