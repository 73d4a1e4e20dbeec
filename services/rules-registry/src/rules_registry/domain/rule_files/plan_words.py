"""A plan in words: a line for each step, what is different below it, and a sum."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from rules_registry.domain.rule_files.desired_rule import DesiredRule
from rules_registry.domain.rule_files.plan import Action, Plan, Step
from rules_registry.domain.rule_files.standing import RuleChange, StandingRule
from rules_registry.domain.wording.change_words import describe_change, end_words
from rules_registry.domain.wording.rule_words import describe
from rules_registry.domain.wording.spans import moment

SIGNS: Final[Mapping[Action, str]] = {"create": "+", "change": "~", "delete": "-"}
_DONE: Final[Mapping[Action, str]] = {"create": "to create", "change": "to change", "delete": "to delete"}
NOTHING: Final = "Nothing to do"


def step_lines(step: Step) -> Iterator[str]:
    """The step with its sign, and below it what it does and what stands in its way."""
    rule = step.rule
    version = "" if rule is None else f" (rule {rule.rule_id}, version {rule.version}{_state(rule)})"
    yield f"  {SIGNS[step.action]} {step.title}{version}"
    if step.desired is not None:
        yield f"      {desired_words(step.desired, rule)}"
    pending = step.pending
    if pending is not None:
        match step.progress:
            case "drafted":
                yield f"      {pending.title} is a draft of this: it will be submitted"
            case "replaces":
                yield f"      in place of {pending.title}, which will be withdrawn ({pending_words(pending, rule)})"
            case "waits":
                yield f"      {pending.title} asks for this and waits for its approval"
            case "blocked":
                yield f"      in its way: {pending.title} is open ({pending_words(pending, rule)})"


def desired_words(desired: DesiredRule, rule: StandingRule | None) -> str:
    """What the rule is to be, or what is to be different of it."""
    definition = desired.definition.to_json()
    clauses = []
    if rule is None:
        clauses.append(describe(definition))
    elif desired.definition.hash != rule.definition_hash:
        clauses.append(describe_change(rule.definition, definition))
    if rule is not None and desired.name not in (None, rule.name):
        clauses.append(f"name {_quoted(rule.name)} → {_quoted(desired.name)}")
    if desired.effective_from is not None and (rule is None or desired.effective_from != rule.effective_from):
        clauses.append(f"effective from {moment(desired.effective_from)}")
    clauses += end_words(None if rule is None else rule.effective_until, desired.effective_until)
    return "; ".join(clauses)


def pending_words(change: RuleChange, rule: StandingRule | None) -> str:
    """What a change asks for, beside the rule as it stands."""
    if change.definition is None:
        share = "" if change.percent is None else f" to {change.percent} % of groups"
        return change.kind.replace("_", " ").lower() + share
    clauses = [describe_change(None if rule is None else rule.definition, change.definition)]
    if rule is not None and change.name not in (None, rule.name):
        clauses.append(f"name {_quoted(rule.name)} → {_quoted(change.name)}")
    if rule is not None and change.base not in (None, rule.version):
        clauses.append(f"made for version {change.base}, which has passed")
    if change.effective_from is not None:
        clauses.append(f"effective from {moment(change.effective_from)}")
    clauses += end_words(None if rule is None else rule.effective_until, change.effective_until)
    return "; ".join(clauses)


def summary(plan: Plan) -> str:
    """Counts of all that there is of."""
    planned = plan.to_do
    counts = [
        f"{count} {words}"
        for action, words in _DONE.items()
        if (count := sum(step.action == action for step in planned))
    ]
    waiting, blocked = len(plan.of("waits")), len(plan.of("blocked"))
    rest = [
        f"{count} {words}"
        for count, words in [
            (blocked, "in conflict with open changes"),
            (waiting, "waiting for approval"),
            (plan.unchanged, "unchanged"),
            (len(plan.elsewhere), "in no file (--prune deletes them)"),
        ]
        if count
    ]
    head = f"Plan: {', '.join(counts) or 'nothing that can be done'}" if counts or blocked else NOTHING
    return f"{'; '.join([head, *rest])}."


def _state(rule: StandingRule) -> str:
    return "" if rule.state == "ACTIVE" else f", {rule.state.lower()}"


def _quoted(text: str | None) -> str:
    return json.dumps(text, ensure_ascii=False)
