"""Carrying a plan out, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from rules_registry.domain.rule_files.desired_rule import DesiredRule
from rules_registry.domain.rule_files.plan import Step
from rules_registry.domain.rule_files.standing import RuleChange, StandingRule

Outcome = StandingRule | RuleChange


class Writer(Protocol):
    """Where rules are changed; what is done is the rule, what waits for a second person is a change."""

    def publish(self, desired: DesiredRule, reason: str) -> Outcome:
        """A new rule."""

    def change(self, desired: DesiredRule, rule: StandingRule, reason: str) -> Outcome:
        """Another definition or name, for the version that was seen."""

    def delete(self, rule: StandingRule, reason: str) -> Outcome:
        """No rule any more, for the version that was seen."""

    def submit(self, change_id: int, reason: str) -> RuleChange:
        """A draft handed to an approver."""

    def withdraw(self, change_id: int, reason: str) -> RuleChange:
        """A change given up."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken, and what came of it."""

    step: Step
    outcome: Outcome

    @property
    def words(self) -> str:
        """Which rule it is now, or what waits for whom."""
        if isinstance(self.outcome, StandingRule):
            return f"rule {self.outcome.rule_id}, version {self.outcome.version}"
        return f"submitted as change {self.outcome.change_id}, which waits for its approval"


def carry_out(steps: tuple[Step, ...], writer: Writer, reason_of: Callable[[Step], str]) -> Iterator[Taken]:
    """Takes the steps in their order. What is raised ends it; everything before was done."""
    for step in steps:
        reason = reason_of(step)
        if step.progress == "replaces" and step.pending is not None:
            writer.withdraw(step.pending.change_id, reason)
        drafted = step.pending if step.progress == "drafted" else None
        outcome = drafted if drafted is not None else _ask(step, writer, reason)
        if isinstance(outcome, RuleChange) and outcome.state == "DRAFT":
            outcome = writer.submit(outcome.change_id, reason)
        yield Taken(step, outcome)


def _ask(step: Step, writer: Writer, reason: str) -> Outcome:
    match step.desired, step.rule:
        case DesiredRule() as desired, None:
            return writer.publish(desired, reason)
        case DesiredRule() as desired, StandingRule() as rule:
            return writer.change(desired, rule, reason)
        case None, StandingRule() as rule:
            return writer.delete(rule, reason)
    raise AssertionError("a step has a rule, one that is desired, or both")
