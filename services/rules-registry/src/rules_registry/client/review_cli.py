"""`rules-registry changes | submit | approve | revert`: changes of rules, with and without a second person."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from rules_registry.client.client_commands import client_command, reason_option, yes_option
from rules_registry.client.errors import NotApplied, RequestRefused
from rules_registry.client.estimate_words import estimate_lines
from rules_registry.client.terminal import say
from rules_registry.domain.rule_files.plan_words import pending_words
from rules_registry.domain.rule_files.standing import RuleChange, StandingRule
from rules_registry.domain.wording.change_words import NO_DIFFERENCE, describe_versions

if TYPE_CHECKING:
    from rules_registry.client.registry_client import RegistryClient

_change_argument = click.argument("change_id", metavar="CHANGE", type=click.IntRange(min=1))


@click.command()
@client_command
def changes(registry: RegistryClient) -> None:
    """List open changes of rules, drafts and submissions that wait for their approval, with what they are estimated to
    say and cost."""
    rules = {rule.rule_id: rule for rule in registry.rules()}
    for change in registry.open_changes():
        rule = rules.get(change.rule_id or 0)
        say(f"{change.change_id:6} {change.state:9} {change.author}: {_title(change, rule)}")
        say(f"       {pending_words(change, rule)}")
        for line in estimate_lines(change.estimate):
            say(f"       {line}")


@click.command()
@_change_argument
@reason_option
@client_command
def submit(registry: RegistryClient, change_id: int, reason: str | None) -> None:
    """Hand the draft CHANGE to an approver."""
    change = registry.submit(change_id, reason)
    say(f"Change {change.change_id} is {change.state}.")


@click.command()
@_change_argument
@reason_option
@yes_option
@client_command
def approve(registry: RegistryClient, change_id: int, reason: str | None, yes: bool) -> None:
    """Approve CHANGE, of a rule, after it was shown; it then happens at once."""
    change = registry.change_of(change_id)
    if change.rule_id is None:
        # What is not shown here is not approved here.
        raise NotApplied(
            f"Change {change_id} is of no rule but of kind {change.kind}: look at it in the console."
        )
    rule = _rule_of(registry, change)
    say(f"{change.title}: {_title(change, rule)}")
    say(f"  {pending_words(change, rule)}")
    for line in estimate_lines(change.estimate):
        say(f"  {line}")
    if not (yes or click.confirm("Approve?")):
        raise NotApplied("Nothing was approved.")
    approved = registry.approve(change, reason)
    say(f"Change {approved.change_id} is {approved.state}.")


@click.command()
@click.argument("rule")
@click.option("--to", "version", required=True, type=click.IntRange(min=1), help="The version to go back to.")
@reason_option
@yes_option
@client_command
def revert(registry: RegistryClient, rule: str, version: int, reason: str | None, yes: bool) -> None:
    """Give RULE, an id or a name, the definition and name of an old version; where a second person has to approve that,
    it is submitted."""
    standing = registry.rule(rule)
    now, then = (registry.version(standing.rule_id, number) for number in (standing.version, version))
    unchanged = {"state": now["state"], "effectiveFrom": now["effectiveFrom"]}
    # a version that is brought back has no end, and counts for all groups
    words = describe_versions(now, {**then, **unchanged, "effectiveUntil": None, "percent": None})
    say(f"{standing.name} (rule {standing.rule_id}), version {standing.version} → as in version {version}:")
    say(f"  {words}")
    if words == NO_DIFFERENCE:
        return
    if not (yes or click.confirm("Revert?")):
        raise NotApplied("Nothing was changed.")
    outcome = registry.revert(standing, version, reason)
    if isinstance(outcome, RuleChange) and outcome.state == "DRAFT":
        outcome = registry.submit(outcome.change_id, reason)
    if isinstance(outcome, RuleChange):
        say(f"Submitted as change {outcome.change_id}, which waits for its approval.")
    else:
        say(f"Rule {outcome.rule_id} has version {outcome.version}.")


def _title(change: RuleChange, rule: StandingRule | None) -> str:
    if rule is not None:
        return f"{rule.name} (rule {rule.rule_id}, version {rule.version})"
    return f"{change.name or 'rule'} (rule {change.rule_id}, {'new' if change.base is None else 'deleted'})"


def _rule_of(registry: RegistryClient, change: RuleChange) -> StandingRule | None:
    """The rule that it would change; None for a new one."""
    if change.rule_id is None or change.kind == "PUBLISH_RULE":
        return None
    try:
        return registry.rule(str(change.rule_id))
    except RequestRefused as refused:
        if refused.kind != "rule-deleted":
            raise
        return None
