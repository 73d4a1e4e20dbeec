"""Carrying a plan out: which requests its steps become, and in which order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from rules_registry.client.errors import RegistryUnreachable
from rules_registry.client.plan_steps import Outcome, carry_out
from rules_registry.domain.rule_files.desired_rule import DesiredRule
from rules_registry.domain.rule_files.plan import Step
from rules_registry.domain.rule_files.standing import RuleChange, StandingRule
from tests.unit.rules_registry.support import rule_files
from tests.unit.rules_registry.support.rule_files import MUCH, change, standing

(RULE,) = rule_files.desired(MUCH)
STANDING = standing(RULE)
DRAFT = change(RULE, state="DRAFT")


@dataclass
class FakeRegistry:
    """Notes what it is asked for; with four eyes it answers with drafts."""

    four_eyes: bool = False
    asked: list[str] = field(default_factory=list)

    def publish(self, desired: DesiredRule, reason: str) -> Outcome:
        return self._done(f"publish {desired.title}: {reason}")

    def change(self, desired: DesiredRule, rule: StandingRule, reason: str) -> Outcome:
        assert desired is RULE
        return self._done(f"change {rule.rule_id} at {rule.version}: {reason}")

    def delete(self, rule: StandingRule, reason: str) -> Outcome:
        self._done(f"delete {rule.rule_id} at {rule.version}: {reason}")
        return replace(DRAFT, state="SUBMITTED") if self.four_eyes else STANDING

    def submit(self, change_id: int, reason: str) -> RuleChange:
        self._done(f"submit {change_id}: {reason}")
        return replace(DRAFT, state="SUBMITTED")

    def withdraw(self, change_id: int, reason: str) -> RuleChange:
        self._done(f"withdraw {change_id}: {reason}")
        return replace(DRAFT, state="WITHDRAWN")

    def _done(self, what: str) -> Outcome:
        self.asked.append(what)
        return DRAFT if self.four_eyes else STANDING


CREATE = Step("create", "open", RULE)
CHANGE = Step("change", "open", RULE, STANDING)
DELETE = Step("delete", "open", None, STANDING)
CASES: list[tuple[Step, bool, list[str], str]] = [
    (CREATE, False, ["publish Much: why"], "rule 7, version 3"),
    (CHANGE, False, ["change 7 at 3: why"], "rule 7, version 3"),
    (DELETE, False, ["delete 7 at 3: why"], "rule 7, version 3"),
    (CREATE, True, ["publish Much: why", "submit 12: why"], "submitted as change 12, which waits for its approval"),
    (CHANGE, True, ["change 7 at 3: why", "submit 12: why"], "submitted as change 12, which waits for its approval"),
    (DELETE, True, ["delete 7 at 3: why"], "submitted as change 12, which waits for its approval"),
    (replace(CHANGE, progress="drafted", pending=DRAFT), True, ["submit 12: why"],
     "submitted as change 12, which waits for its approval"),
    (replace(CHANGE, progress="replaces", pending=change(RULE)), True,
     ["withdraw 12: why", "change 7 at 3: why", "submit 12: why"],
     "submitted as change 12, which waits for its approval"),
]  # fmt: skip


@pytest.mark.parametrize(("step", "four_eyes", "asked", "words"), CASES)
def test_requests_of_a_step(step: Step, four_eyes: bool, asked: list[str], words: str) -> None:
    registry = FakeRegistry(four_eyes)
    (taken,) = carry_out((step,), registry, lambda _: "why")
    assert (registry.asked, taken.words) == (asked, words)


def test_a_refusal_ends_it_and_what_was_done_was_told() -> None:
    class Breaks(FakeRegistry):
        def delete(self, rule: StandingRule, reason: str) -> Outcome:
            raise RegistryUnreachable(f"{rule.name}: {reason}")

    registry = Breaks()
    steps = carry_out((CHANGE, DELETE, CREATE), registry, lambda step: step.action)
    assert next(steps).step is CHANGE
    with pytest.raises(RegistryUnreachable):
        next(steps)
    assert registry.asked == ["change 7 at 3: change"]
