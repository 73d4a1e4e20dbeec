"""`rules-registry shadow start | rollout | promote | end`: a version beside a rule, and how far it counts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from rules_registry.client.client_commands import client_command, reason_option, yes_option
from rules_registry.client.client_settings import event_type_of
from rules_registry.client.errors import FilesUnusable, NotApplied
from rules_registry.client.folders import read_files
from rules_registry.client.terminal import say
from rules_registry.domain.rule_files.desired_rule import DesiredRule, read_rules
from rules_registry.domain.rule_files.standing import RuleChange, StandingRule, StandingShadow
from rules_registry.domain.wording.change_words import describe_change

if TYPE_CHECKING:
    from rules_registry.client.registry_client import Outcome, RegistryClient

_WIDEST: Final = 99
_rule_argument = click.argument("rule")


@click.group()
def shadow() -> None:
    """Try a version of a rule beside it, before it counts, or for some of its groups."""


@shadow.command()
@_rule_argument
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@reason_option
@yes_option
@client_command
def start(registry: RegistryClient, rule: str, file: Path, reason: str | None, yes: bool) -> None:
    """Start the rule in FILE as a shadow of RULE, an id or a name."""
    desired, standing = _one_rule(file), registry.rule(rule)
    say(f"{_title(standing)}: {describe_change(standing.definition, desired.definition.to_json())}")
    _require_consent(yes, "Start it as a shadow?")
    _tell(registry.start_shadow(standing, desired, reason))


@shadow.command()
@_rule_argument
@click.argument("percent", type=click.IntRange(1, _WIDEST))
@reason_option
@yes_option
@client_command
def rollout(registry: RegistryClient, rule: str, percent: int, reason: str | None, yes: bool) -> None:
    """Let the shadow of RULE, an id or a name, raise the alerts of PERCENT of its groups; more than it has now."""
    standing, beside = _with_shadow(registry, rule)
    share = f"{beside.percent} % → {percent} % of groups"
    say(f"{_title(standing)}: {share} by version {beside.version}, {_difference(standing, beside)}")
    _require_consent(yes, "Roll it out?")
    _tell(registry.move_shadow(standing, "rollout", reason, {"percent": percent}))


@shadow.command()
@_rule_argument
@reason_option
@yes_option
@client_command
def promote(registry: RegistryClient, rule: str, reason: str | None, yes: bool) -> None:
    """Make the shadow of RULE, an id or a name, its definition, with all that it knows."""
    standing, beside = _with_shadow(registry, rule)
    say(f"{_title(standing)}: {_difference(standing, beside)}")
    _require_consent(yes, "Promote its shadow?")
    _tell(registry.move_shadow(standing, "promote", reason))


@shadow.command()
@_rule_argument
@reason_option
@yes_option
@client_command
def end(registry: RegistryClient, rule: str, reason: str | None, yes: bool) -> None:
    """End the shadow of RULE, an id or a name; all groups are the rule's own again."""
    standing, beside = _with_shadow(registry, rule)
    say(f"{_title(standing)}: version {beside.version} runs beside it, for {beside.percent} % of groups")
    _require_consent(yes, "End it?")
    _tell(registry.end_shadow(standing, reason))


def _one_rule(file: Path) -> DesiredRule:
    rules = read_rules(read_files([file]), event_type_of(os.environ))
    if len(rules) != 1:
        raise FilesUnusable(f"{file} has {len(rules)} rules: expected the one that is to run beside.")
    return rules[0]


def _with_shadow(registry: RegistryClient, rule: str) -> tuple[StandingRule, StandingShadow]:
    standing = registry.rule(rule)
    if standing.shadow is None:
        raise NotApplied(f"Rule {standing.rule_id} has no shadow.")
    return standing, standing.shadow


def _title(rule: StandingRule) -> str:
    return f"{rule.name} (rule {rule.rule_id}, version {rule.version})"


def _difference(rule: StandingRule, beside: StandingShadow) -> str:
    return describe_change(rule.definition, beside.definition)


def _require_consent(yes: bool, question: str) -> None:
    if not (yes or click.confirm(question)):
        raise NotApplied("Nothing was changed.")


def _tell(outcome: Outcome) -> None:
    if isinstance(outcome, RuleChange):
        say(f"Submitted as change {outcome.change_id}, which waits for its approval.")
    else:
        beside = outcome.shadow
        share = (
            "without a shadow" if beside is None else f"its shadow counts for {beside.percent} % of groups"
        )
        say(f"Rule {outcome.rule_id} has version {outcome.version}, {share}.")
