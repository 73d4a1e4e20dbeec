"""The life of a change and of its rule, driven at random beside a model that knows only the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import PublishRule
from rules_registry.domain.review import lifecycle
from rules_registry.errors import IllegalStep, NotAnEditor, SamePerson
from rules_registry.service.ports import Answer
from rules_registry.service.review import Review
from tests.unit.rules_registry.support.fakes import FakeStore, new_registry
from tests.unit.rules_registry.support.samples import NOW, definition
from tripline_contracts import event_type_loader

PEOPLE = st.sampled_from(["ada", "bob", "eve", "joe"])


def told(_: object) -> Answer:
    return Answer(200, {}, {})


class Changes(RuleBasedStateMachine):
    """One change, in the hands of four people."""

    @initialize(author=PEOPLE)
    def draft(self, author: str) -> None:
        self.store = FakeStore()
        self.review = Review(new_registry(self.store), event_type_loader.load())
        self.review.propose(Actor(author), lambda _: PublishRule(1, None, definition(60), None), told)
        self.state, self.hands, self.published = "DRAFT", {author}, False

    @rule(who=PEOPLE, seconds=st.integers(1, 500))
    def edit(self, who: str, seconds: int) -> None:
        wanted = PublishRule(1, None, definition(seconds), None)
        if self.happens("edit", lambda: self.review.edit(Actor(who), 1, lambda _: wanted, told)):
            self.hands.add(who)

    @rule(who=PEOPLE, step=st.sampled_from(["submit", "reject"]))
    def move(self, who: str, step: str) -> None:
        self.happens(step, lambda: self.review.step(Actor(who), 1, step, told))

    @rule(who=PEOPLE)
    def withdraw(self, who: str) -> None:
        def act() -> Any:
            return self.review.step(Actor(who), 1, "withdraw", told)

        if who in self.hands:
            self.happens("withdraw", act)
        else:
            with pytest.raises(NotAnEditor):
                act()

    @rule(who=PEOPLE)
    def approve(self, who: str) -> None:
        seen = self.store.log.changes.kept[1].content.hash

        def act() -> Any:
            return self.review.approve(Actor(who), 1, seen, told)

        if self.state == "SUBMITTED" and who in self.hands:
            with pytest.raises(SamePerson):
                act()
        else:
            self.published |= self.happens("approve", act)

    def happens(self, step: Any, act: Any) -> bool:
        """Whether the step was legal; an illegal one is refused."""
        following = lifecycle.STEPS[self.state].get(step)  # type: ignore[index]
        if following is None:
            with pytest.raises(IllegalStep) as refused:
                act()
            assert refused.value.legal == tuple(lifecycle.STEPS[self.state])  # type: ignore[index]
            return False
        act()
        self.state = following
        return True

    @invariant()
    def it_stands_where_the_table_says(self) -> None:
        change = self.store.log.changes.kept[1]
        assert (change.state, set(change.editors)) == (self.state, self.hands)
        assert self.store.types() == (["RulePublished"] if self.published else [])
        assert change.decided_by not in self.hands
        assert change.revision == len(self.store.log.changes.editors)


TestChanges = Changes.TestCase


def test_a_rule_is_approved_until_it_is_effective_and_expired_from_its_end_on() -> None:
    assert lifecycle.lifecycle_of("ACTIVE", NOW + 1, None, NOW) == "APPROVED"
    assert lifecycle.lifecycle_of("ACTIVE", NOW, NOW + 1, NOW) == "ACTIVE"
    assert lifecycle.lifecycle_of("ACTIVE", NOW - 9, NOW, NOW) == "EXPIRED"
    assert lifecycle.lifecycle_of("PAUSED", NOW + 1, NOW + 2, NOW) == "PAUSED"
    assert lifecycle.lifecycle_of("DELETED", NOW - 9, NOW, NOW) == "RETIRED"


def test_the_diagram_in_the_documents_is_the_tables() -> None:
    page = (Path(__file__).parents[4] / "docs" / "approval.md").read_text(encoding="utf-8")
    assert f"```mermaid\n{lifecycle.diagram()}```" in page


def test_every_state_can_be_reached() -> None:
    reached, edge = {"DRAFT"}, ["DRAFT"]
    while edge:
        following = set(lifecycle.STEPS[edge.pop()].values()) - reached  # type: ignore[index]
        reached |= following
        edge += following
    assert reached == set(lifecycle.STEPS)
