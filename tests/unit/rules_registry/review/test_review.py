"""Changes that a second person has to approve, on a log in memory."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal

import pytest

from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import (
    ChangeNamed,
    ChangeRule,
    ChangeSettings,
    ClearGroup,
    ClearRule,
    DeleteRule,
    EndBackfill,
    PauseRule,
    PublishRule,
    ResumeRule,
    TraceRule,
    VoidTransaction,
)
from rules_registry.domain.engine_settings import EngineSettings
from rules_registry.domain.review.change_request import ChangeRequest
from rules_registry.domain.review.content import Proposed, command_of, content_of, needs_second_person
from rules_registry.errors import (
    BaseMoved,
    ChangeNotFound,
    IllegalStep,
    NotAnEditor,
    NotApprovedBefore,
    OpenChange,
    OtherRevision,
    ReasonNeeded,
    SamePerson,
    StaleVersion,
    WrongState,
)
from rules_registry.service.ports import Answer, Log
from rules_registry.service.review import Review
from tests.unit.rules_registry.support.fakes import FakeStore, new_registry
from tests.unit.rules_registry.support.samples import SUM, definition
from tripline_contracts import event_type_loader

ADA, BOB, EVE = Actor("ada", "analyst"), Actor("bob", "analyst"), Actor("eve", "approver")
TYPE = event_type_loader.load()


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def review(store: FakeStore) -> Review:
    return Review(new_registry(store), TYPE)


def told(change: ChangeRequest) -> Answer:
    return Answer(200, {}, {"id": change.change_id, "hash": change.content.hash})


def new_rule(log: Log) -> PublishRule:
    return PublishRule(log.next_rule_id(), "Ada's" if log.next_rule_id() == 1 else None, SUM, None)


def propose(review: Review, command: Callable[[Log], Proposed] | Proposed, actor: Actor = ADA) -> int:
    """The id of a change that is submitted."""
    making = command if callable(command) else lambda _: command
    change_id: int = review.propose(actor, making, told, submit=True).body["id"]
    return change_id


def approve(review: Review, store: FakeStore, change_id: int, actor: Actor = EVE) -> None:
    review.approve(actor, change_id, store.log.changes.kept[change_id].content.hash, told)


def published(review: Review, store: FakeStore) -> int:
    """A rule that ada wrote and eve approved."""
    approve(review, store, propose(review, new_rule))
    return store.log.rules()[-1].rule_id


def test_nothing_happens_before_the_approval_and_all_of_it_then(review: Review, store: FakeStore) -> None:
    change_id = propose(review, new_rule)
    assert (store.types(), store.log.rules()) == ([], [])
    approve(review, store, change_id)
    [rule] = store.log.rules()
    assert (rule.rule_id, rule.name, rule.definition.hash) == (1, "Ada's", SUM.hash)
    change = store.log.changes.kept[change_id]
    assert (change.state, change.decided_by, change.position) == ("APPROVED", "eve", 1)
    assert store.log.recorded[0].actor == "ada", "the rule is its author's"


def test_what_was_said_with_the_draft_is_why_it_was_done(review: Review, store: FakeStore) -> None:
    for submitting in (ADA, Actor("ada", reason="it is urgent")):
        said = Actor("ada", reason="cards are tested")
        draft = review.propose(said, lambda log: PublishRule(log.next_rule_id(), None, SUM, None), told)
        review.step(submitting, draft.body["id"], "submit", told)
        approve(review, store, draft.body["id"])
    entries = [json.loads(entry.text) for entry in store.log.audit]
    reasons = [entry["reason"] for entry in entries if entry["type"] == "RulePublished"]
    assert reasons == ["cards are tested", "it is urgent"]


def test_the_trail_tells_each_step(review: Review, store: FakeStore) -> None:
    draft = review.propose(ADA, new_rule, told).body["id"]
    review.edit(BOB, draft, lambda _: PublishRule(1, None, definition(60), None), told)
    review.step(ADA, draft, "submit", told)
    review.step(Actor("eve", reason="too wide"), draft, "reject", told)
    review.step(ADA, draft, "submit", told)
    approve(review, store, draft)
    entries = [json.loads(entry.text) for entry in store.log.audit]
    assert [(entry["type"], entry["actor"]) for entry in entries] == [
        ("ChangeDrafted", "ada"),
        ("ChangeEdited", "bob"),
        ("ChangeSubmitted", "ada"),
        ("ChangeRejected", "eve"),
        ("ChangeSubmitted", "ada"),
        ("RulePublished", "ada"),
        ("ChangeApproved", "eve"),
    ]
    assert {(entry["subject"]["kind"], entry["subject"]["id"]) for entry in entries} == {("rule", "1")}
    assert entries[3]["reason"] == "too wide"
    states = [entry["after"]["state"] for entry in entries if entry["type"] != "RulePublished"]
    assert states == ["DRAFT", "DRAFT", "SUBMITTED", "DRAFT", "SUBMITTED", "APPROVED"]
    assert entries[5]["after"]["definitionHash"] == entries[1]["after"]["content"]["definitionHash"]


def test_an_edit_of_a_revision_that_is_gone_is_refused(review: Review, store: FakeStore) -> None:
    draft = review.propose(ADA, new_rule, told).body["id"]
    review.edit(BOB, draft, lambda _: PublishRule(1, None, definition(60), None), told, frozenset({1}))
    with pytest.raises(StaleVersion) as refused:
        review.edit(ADA, draft, lambda _: PublishRule(1, None, definition(90), None), told, frozenset({1}))
    change = store.log.changes.kept[draft]
    assert (refused.value.current, change.revision) == (2, 2)
    assert change.content.members["definitionHash"] == definition(60).hash


@pytest.mark.parametrize("actor", [ADA, BOB], ids=["author", "editor"])
def test_whoever_had_a_hand_in_it_does_not_approve_it(review: Review, store: FakeStore, actor: Actor) -> None:
    change_id = review.propose(ADA, new_rule, told).body["id"]
    review.edit(BOB, change_id, lambda _: PublishRule(1, None, definition(60), None), told)
    review.step(BOB, change_id, "submit", told)
    with pytest.raises(SamePerson, match=actor.name):
        approve(review, store, change_id, actor)
    assert store.types() == []


def test_an_approval_is_of_the_content_that_was_seen(review: Review, store: FakeStore) -> None:
    change_id = propose(review, new_rule)
    seen = store.log.changes.kept[change_id].content.hash
    review.step(EVE, change_id, "reject", told)
    review.edit(ADA, change_id, lambda _: PublishRule(1, None, definition(60), None), told)
    review.step(ADA, change_id, "submit", told)
    with pytest.raises(OtherRevision, match="revision 2"):
        review.approve(EVE, change_id, seen, told)
    assert store.types() == []


def test_a_change_of_a_version_that_is_gone_is_not_approved(review: Review, store: FakeStore) -> None:
    rule_id = published(review, store)
    change_id = propose(review, ChangeRule(rule_id, None, None, definition(60), None))
    review.act_alone(
        Actor("ada", reason="it floods"), lambda _: PauseRule(rule_id, None), lambda _, c: told(c)
    )
    with pytest.raises(BaseMoved, match="made for version 1, and the version is 2"):
        approve(review, store, change_id)
    review.step(EVE, change_id, "reject", told)
    review.edit(ADA, change_id, lambda _: ChangeRule(rule_id, None, None, definition(60), None), told)
    review.step(ADA, change_id, "submit", told)
    approve(review, store, change_id)
    assert [rule.version for rule in store.log.rules()] == [3]


def test_what_cannot_be_done_cannot_be_asked_for(review: Review, store: FakeStore) -> None:
    rule_id = published(review, store)
    with pytest.raises(StaleVersion):
        propose(review, ChangeRule(rule_id, frozenset({9}), None, SUM, None))
    with pytest.raises(WrongState):
        propose(review, PublishRule(rule_id, None, SUM, None))
    assert len(store.log.changes.kept) == 1
    assert store.types() == ["RulePublished"]


def test_one_open_change_of_a_rule(review: Review, store: FakeStore) -> None:
    rule_id = published(review, store)
    first = propose(review, PauseRule(rule_id, None))
    with pytest.raises(OpenChange, match=f"Change {first} of rule {rule_id}, by ada"):
        propose(review, DeleteRule(rule_id, None), BOB)
    with pytest.raises(NotAnEditor):
        review.step(BOB, first, "withdraw", told)
    review.step(ADA, first, "withdraw", told)
    approve(review, store, propose(review, DeleteRule(rule_id, None), BOB))
    assert store.log.rules() == []


def test_what_has_no_draft_is_given_up_when_it_is_rejected(review: Review, store: FakeStore) -> None:
    rule_id = published(review, store)
    change_id = propose(review, PauseRule(rule_id, None))
    review.step(EVE, change_id, "reject", told)
    assert store.log.changes.kept[change_id].state == "WITHDRAWN"
    propose(review, DeleteRule(rule_id, None))


def test_an_illegal_step_names_the_legal_ones(review: Review, store: FakeStore) -> None:
    draft = review.propose(ADA, new_rule, told).body["id"]
    with pytest.raises(
        IllegalStep, match=r"is DRAFT: approve is not possible. Possible now: edit, submit, withdraw\."
    ):
        approve(review, store, draft)
    review.step(ADA, draft, "withdraw", told)
    with pytest.raises(IllegalStep, match="Nothing can be done with it any more"):
        review.step(ADA, draft, "submit", told)
    with pytest.raises(ChangeNotFound):
        review.step(ADA, 99, "submit", told)


def test_a_rule_that_waits_keeps_its_id(review: Review, store: FakeStore) -> None:
    first, second = propose(review, new_rule), propose(review, new_rule)
    approve(review, store, second)
    approve(review, store, first)
    assert [rule.rule_id for rule in store.log.rules()] == [1, 2]


class TestAlone:
    def test_pausing_is_flagged_until_somebody_else_has_looked(
        self, review: Review, store: FakeStore
    ) -> None:
        rule_id = published(review, store)
        with pytest.raises(ReasonNeeded):
            review.act_alone(ADA, lambda _: PauseRule(rule_id, None), lambda _, c: told(c))
        flooded = Actor("ada", reason="it floods")
        answer = review.act_alone(flooded, lambda _: PauseRule(rule_id, None), lambda _, c: told(c))
        assert [rule.state for rule in store.log.rules()] == ["PAUSED"]
        change_id = answer.body["id"]
        assert store.log.changes.kept[change_id].awaits_review
        with pytest.raises(SamePerson):
            review.review(ADA, change_id, answer.body["hash"], told)
        review.review(EVE, change_id, answer.body["hash"], told)
        assert not store.log.changes.kept[change_id].awaits_review
        with pytest.raises(IllegalStep, match="review is not possible"):
            review.review(BOB, change_id, answer.body["hash"], told)

    def test_only_to_what_was_approved(self, review: Review, store: FakeStore) -> None:
        rule_id = published(review, store)
        approve(review, store, propose(review, ChangeRule(rule_id, None, None, definition(60), None)))
        reverting = Actor("ada", reason="the new one is wrong")
        with pytest.raises(NotApprovedBefore):
            review.act_alone(
                reverting,
                lambda _: ChangeRule(rule_id, None, None, definition(61), None),
                lambda _, c: told(c),
            )
        review.act_alone(
            reverting, lambda _: ChangeRule(rule_id, None, None, SUM, None), lambda _, c: told(c)
        )
        assert [rule.definition.hash for rule in store.log.rules()] == [SUM.hash]


COMMANDS: list[Proposed] = [
    PublishRule(7, "n", SUM, 5, effective_until=9),
    ChangeRule(7, frozenset({3}), None, SUM, None, 9),
    PublishRule(7, "N", SUM, 5),
    ChangeRule(7, frozenset({3}), None, definition(60), None),
    PauseRule(7, frozenset({3})),
    ResumeRule(7, frozenset({3})),
    DeleteRule(7, frozenset({3})),
    ChangeNamed("list", "shops", frozenset({3}), ("a", "b")),
    ChangeNamed("parameter", "most", frozenset({3}), Decimal("1.5")),
    ChangeSettings(frozenset({3}), EngineSettings(max_disorder_seconds=1)),
    TraceRule(7, 60),
    ClearRule(7),
    ClearGroup(7, {"payeeId": "1"}),
    VoidTransaction("t", 5),
    EndBackfill("b", 5),
    "CLEAR_STATE_ALL",
    "DELETE_RULES_ALL",
    "START_BACKFILL",
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: getattr(type(command), "__name__", ""))
def test_a_content_says_all_of_its_command(command: Proposed) -> None:
    content = content_of(command, 3)
    assert command_of(content, TYPE) == command
    assert content_of(command_of(content, TYPE), 3).hash == content.hash


def test_different_commands_have_different_hashes() -> None:
    assert len({content_of(command, 3).hash for command in COMMANDS}) == len(COMMANDS)


def test_what_can_silence_an_alert_needs_a_second_person() -> None:
    free = [command for command in COMMANDS if not needs_second_person(command)]
    assert free == [ResumeRule(7, frozenset({3})), TraceRule(7, 60), EndBackfill("b", 5), "START_BACKFILL"]
