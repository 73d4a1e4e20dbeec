"""`decide`: what a command makes happen, or why it is refused."""

from __future__ import annotations

from typing import Any, TypeVar, assert_never

from rules_registry.domain.commands import (
    ChangeOfRule,
    ChangeOfShadow,
    ChangeRule,
    ChangeSettings,
    DeleteRule,
    EndShadow,
    Expected,
    PauseRule,
    PromoteShadow,
    PublishRule,
    ResumeRule,
    RollOutShadow,
    StartShadow,
)
from rules_registry.domain.engine_settings import SettingsState
from rules_registry.domain.events import (
    RuleDeleted,
    RuleEvent,
    RulePaused,
    RulePublished,
    RuleResumed,
    RuleShadowEnded,
    RuleShadowPromoted,
    RuleShadowRolledOut,
    RuleShadowStarted,
    SettingsChanged,
)
from rules_registry.domain.review.lifecycle import STEPS, Step, lifecycle_of
from rules_registry.domain.rule import Rule, RuleState, Shadow
from rules_registry.errors import (
    EndsTooEarly,
    RuleIsDeleted,
    RuleNotFound,
    StaleVersion,
    UnfitDefinition,
    WrongState,
)
from tripline_contracts.errors import Problem

E = TypeVar("E", bound=RuleEvent)


def decide(rule: Rule | None, command: PublishRule | ChangeOfRule, now_ms: int) -> RuleEvent:
    """The event that the command makes of this rule (`None`: there is none) at `now_ms`.

    Raises `RuleNotFound`, `RuleIsDeleted`, `StaleVersion`, `WrongState`, and `EndsTooEarly` or of a rollout
    `UnfitDefinition`, in this order.
    """
    if isinstance(command, PublishRule):
        return _publish(rule, command, now_ms)
    current = _changeable(rule, command)
    match command:
        case ChangeRule():
            _require_no_shadow(current, "published")
            return _brought(current, RulePublished, command, now_ms)
        case PauseRule():
            _require_step(current, "pause", "paused", now_ms)
            return _moved(current, RulePaused, "PAUSED")
        case ResumeRule():
            _require_step(current, "resume", "resumed", now_ms)
            return _moved(current, RuleResumed, "ACTIVE")
        case DeleteRule():
            return _moved(current, RuleDeleted, "DELETED")
        case StartShadow() | RollOutShadow() | EndShadow() | PromoteShadow():
            return _of_shadow(current, command, now_ms)
    assert_never(command)


def _of_shadow(current: Rule, command: ChangeOfShadow, now_ms: int) -> RuleEvent:
    if isinstance(command, StartShadow):
        _require_no_shadow(current, "started beside it")
        return _brought(current, RuleShadowStarted, command, now_ms)
    shadow = _shadow_of(current)
    match command:
        case RollOutShadow():
            return _rolled_out(current, shadow, command.percent)
        case EndShadow():
            return _moved(current, RuleShadowEnded, current.state)
        case PromoteShadow():
            return RuleShadowPromoted(**_members_of(current, shadow))
    assert_never(command)


def decide_settings(current: SettingsState, command: ChangeSettings) -> SettingsChanged | None:
    """The event that brings the settings in force; `None` where they are in force already. Raises
    `StaleVersion`.
    """
    require_expected(current.version, command.expected)
    if current.version and current.settings == command.settings:
        return None
    return SettingsChanged(version=current.version + 1, settings=command.settings)


def require_expected(version: int, expected: Expected) -> None:
    """Raises `StaleVersion` unless the caller expects this version."""
    if expected is not None and version not in expected:
        raise StaleVersion(version)


def effective_from(command: PublishRule | ChangeRule | StartShadow, now_ms: int) -> int:
    """The event time (ms) from which the definition judges: now by default. Raises `EndsTooEarly` where it would never
    judge."""
    since = now_ms if command.effective_from is None else command.effective_from
    if command.effective_until is not None and command.effective_until <= since:
        raise EndsTooEarly(since)
    return since


def _publish(rule: Rule | None, command: PublishRule, now_ms: int) -> RuleEvent:
    if rule is not None:
        raise WrongState(f"Rule {command.rule_id} exists.")
    return RulePublished(
        rule_id=command.rule_id,
        version=1,
        definition_version=1,
        state="PAUSED" if command.paused else "ACTIVE",
        name=command.name or f"Rule {command.rule_id}",
        definition=command.definition,
        effective_from=effective_from(command, now_ms),
        effective_until=command.effective_until,
    )


def _brought(rule: Rule, event: type[E], command: ChangeRule | StartShadow, now_ms: int) -> E:
    """The event that brings the command's definition."""
    version = rule.version + 1
    return event(
        rule_id=rule.rule_id,
        version=version,
        definition_version=version,
        state=rule.state,
        name=command.name or rule.name,
        definition=command.definition,
        effective_from=effective_from(command, now_ms),
        effective_until=command.effective_until,
    )


def _changeable(rule: Rule | None, command: ChangeOfRule) -> Rule:
    if rule is None:
        raise RuleNotFound(command.rule_id)
    if rule.state == "DELETED":
        raise RuleIsDeleted(rule.rule_id)
    require_expected(rule.version, command.expected)
    return rule


def _require_step(rule: Rule, step: Step, verb: str, now_ms: int) -> None:
    if step not in STEPS[lifecycle_of(rule.state, rule.effective_from, rule.effective_until, now_ms)]:
        raise WrongState(f"Rule {rule.rule_id} is {rule.state} and cannot be {verb}.")


def _require_no_shadow(rule: Rule, verb: str) -> None:
    """Raises `WrongState`: what it is compared with, and its number, would not be what they were."""
    if rule.shadow is not None:
        raise WrongState(
            f"Version {rule.shadow.version} runs as a shadow of rule {rule.rule_id}: another can be {verb} once it is"
            " promoted or ended."
        )


def _shadow_of(rule: Rule) -> Shadow:
    if rule.shadow is None:
        raise WrongState(f"Rule {rule.rule_id} has no shadow.")
    return rule.shadow


def _rolled_out(rule: Rule, shadow: Shadow, percent: int) -> RuleShadowRolledOut:
    """Raises `WrongState` where the two do not group alike, and so could not share groups; and `UnfitDefinition` where
    it would be no wider."""
    if set(shadow.definition.grouping_key_names) != set(rule.definition.grouping_key_names):
        raise WrongState(
            f"Version {shadow.version} groups by other fields than rule {rule.rule_id} does: a rollout needs the same"
            " groups."
        )
    if percent <= shadow.percent:
        problem = Problem("percent", f"expected a number above {shadow.percent}, to which it is rolled out")
        raise UnfitDefinition("A rollout is only widened; to go back the shadow has to be ended.", [problem])
    return RuleShadowRolledOut(**_members_of(rule, shadow), percent=percent)


def _members_of(rule: Rule, shadow: Shadow) -> dict[str, Any]:
    """The members of an event that tells the shadow's definition."""
    return {
        "rule_id": rule.rule_id,
        "version": rule.version + 1,
        "definition_version": shadow.version,
        "state": rule.state,
        "name": shadow.name,
        "definition": shadow.definition,
        "effective_from": shadow.effective_from,
        "effective_until": shadow.effective_until,
    }


def _moved(rule: Rule, event: type[E], state: RuleState) -> E:
    return event(
        rule_id=rule.rule_id,
        version=rule.version + 1,
        definition_version=rule.definition_version,
        state=state,
        name=rule.name,
        definition=rule.definition,
        effective_from=rule.effective_from,
        effective_until=rule.effective_until,
    )
