"""From the rules that should be and those that there are to the steps between them.

A rule keeps its state whatever its file says of the rest: who paused it decides when it goes on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from rules_registry.domain.rule_files.desired_rule import DesiredRule, problem_with
from rules_registry.domain.rule_files.errors import FileProblem, InvalidRuleFiles
from rules_registry.domain.rule_files.standing import RuleChange, StandingRule

Action = Literal["create", "change", "delete"]
Progress = Literal["open", "drafted", "replaces", "waits", "blocked"]
"""How far a step has come: nothing is there yet; a draft asks for the same; an open change that asks for something else
is to be withdrawn; a submission asks for the same; or such a change is in the way, for the registry takes no other."""

TO_DO: Final[tuple[Progress, ...]] = ("open", "drafted", "replaces")
"""Where there is something that applying would do."""


@dataclass(frozen=True, slots=True)
class Step:
    """One rule that is not as it should be. Of `desired` and `rule` a new one has the first, one to be deleted the
    second; `pending` is the open change of this rule, if there is one."""

    action: Action
    progress: Progress
    desired: DesiredRule | None = None
    rule: StandingRule | None = None
    pending: RuleChange | None = None

    @property
    def title(self) -> str:
        """The name that the rule will have, or has."""
        if self.desired is not None and self.desired.name is not None:
            return self.desired.name
        assert self.rule is not None  # what has no name in its file has an id
        return self.rule.name


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be done, in the order of the files; `unchanged` counts rules that are as they should be, and
    `elsewhere` are those that are in no file and stay."""

    steps: tuple[Step, ...]
    unchanged: int
    elsewhere: tuple[StandingRule, ...] = ()

    def of(self, *progress: Progress) -> tuple[Step, ...]:
        """The steps that have come so far."""
        return tuple(step for step in self.steps if step.progress in progress)

    @property
    def to_do(self) -> tuple[Step, ...]:
        """The steps that applying would take."""
        return self.of(*TO_DO)


@dataclass(frozen=True, slots=True)
class Registry:
    """What the registry holds: rules that are not deleted, and open changes."""

    rules: Sequence[StandingRule]
    changes: Sequence[RuleChange] = ()


@dataclass(slots=True)
class _Matching:
    """Which rule each one in a file means."""

    by_id: Mapping[int, StandingRule]
    by_name: Mapping[str, list[StandingRule]]
    problems: list[FileProblem] = field(default_factory=list)

    def rule_of(self, desired: DesiredRule) -> StandingRule | None:
        """The rule; None for a new one, and for what is a problem."""
        if desired.rule_id is not None:
            rule = self.by_id.get(desired.rule_id)
            if rule is None:
                message = (
                    f"there is no rule {desired.rule_id}; expected one that there is, or a name alone for a new "
                    "rule: the registry gives ids"
                )
                self.problems.append(problem_with(desired, "ruleId", message))
            return rule
        named = self.by_name.get(desired.name or "", [])
        if len(named) > 1:
            ids = " and ".join(str(rule.rule_id) for rule in named)
            message = (
                f"the rules {ids} are called {desired.name!r}; expected the ruleId of the one that is meant"
            )
            self.problems.append(problem_with(desired, "name", message))
        return named[0] if len(named) == 1 else None


def plan_of(
    desired_rules: Iterable[DesiredRule], registry: Registry, *, prune: bool = False, replacing: bool = False
) -> Plan:
    """The steps; with `prune` rules that are in no file are deleted, with `replacing` open changes that are in the way
    are withdrawn. Raises InvalidRuleFiles where it cannot be told which rule is meant."""
    by_name: dict[str, list[StandingRule]] = defaultdict(list)
    for standing in registry.rules:
        by_name[standing.name].append(standing)
    matching = _Matching({rule.rule_id: rule for rule in registry.rules}, by_name)
    meant: dict[int, DesiredRule] = {}
    steps: list[Step] = []
    unchanged = 0
    for desired in desired_rules:
        known_problems = len(matching.problems)
        rule = matching.rule_of(desired)
        if len(matching.problems) > known_problems:
            continue
        if rule is None:
            steps.append(_create(desired, registry.changes))
            continue
        other = meant.setdefault(rule.rule_id, desired)
        if other is not desired:
            message = f"rule {rule.rule_id} is at {other.origin} already; expected once"
            matching.problems.append(problem_with(desired, "", message))
        elif is_as_desired(rule, desired):
            unchanged += 1
        else:
            steps.append(_change(desired, rule, registry.changes))
    if matching.problems:
        raise InvalidRuleFiles(matching.problems)
    elsewhere = tuple(rule for rule in registry.rules if rule.rule_id not in meant)
    if prune:
        steps += [_delete(rule, registry.changes) for rule in elsewhere]
        elsewhere = ()
    if replacing:
        steps = [replace(step, progress="replaces") if step.progress == "blocked" else step for step in steps]
    return Plan(tuple(steps), unchanged, elsewhere)


def is_as_desired(rule: StandingRule, desired: DesiredRule) -> bool:
    """True where applying would change nothing."""
    return (
        rule.definition_hash == desired.definition.hash
        and desired.name in (None, rule.name)
        and desired.effective_from in (None, rule.effective_from)
        and desired.effective_until == rule.effective_until
    )


def _create(desired: DesiredRule, changes: Iterable[RuleChange]) -> Step:
    called_so = [
        change for change in changes if change.kind == "PUBLISH_RULE" and change.name == desired.name
    ]
    same = [change for change in called_so if _brings(change, desired)]
    pending = next(iter([*same, *called_so]), None)
    return Step("create", _progress(pending, is_same=bool(same)), desired, None, pending)


def _change(desired: DesiredRule, rule: StandingRule, changes: Iterable[RuleChange]) -> Step:
    pending = _open_change(rule, changes)
    same = (
        pending is not None
        and pending.kind == "CHANGE_RULE"
        and pending.base == rule.version
        and _brings(pending, desired)
        and (pending.name or rule.name) == (desired.name or rule.name)
    )
    return Step("change", _progress(pending, is_same=same), desired, rule, pending)


def _delete(rule: StandingRule, changes: Iterable[RuleChange]) -> Step:
    pending = _open_change(rule, changes)
    same = pending is not None and pending.kind == "DELETE_RULE" and pending.base == rule.version
    return Step("delete", _progress(pending, is_same=same), None, rule, pending)


def _open_change(rule: StandingRule, changes: Iterable[RuleChange]) -> RuleChange | None:
    """The registry lets a rule have one."""
    return next((change for change in changes if change.rule_id == rule.rule_id), None)


def _brings(change: RuleChange, desired: DesiredRule) -> bool:
    return (
        change.definition_hash == desired.definition.hash
        and change.effective_from == desired.effective_from
        and change.effective_until == desired.effective_until
    )


def _progress(pending: RuleChange | None, *, is_same: bool) -> Progress:
    if pending is None:
        return "open"
    if not is_same:
        return "blocked"
    return "drafted" if pending.state == "DRAFT" else "waits"
