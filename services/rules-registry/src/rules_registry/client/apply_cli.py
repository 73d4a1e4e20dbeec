"""`rules-registry apply | check`: the registry as the files say."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from rules_registry.client.client_commands import client_command, exits_by_error, yes_option
from rules_registry.client.client_settings import event_type_of
from rules_registry.client.errors import FilesUnusable, NotApplied
from rules_registry.client.folders import read_files
from rules_registry.client.plan_steps import Taken, carry_out
from rules_registry.client.terminal import say
from rules_registry.domain.rule_files.desired_rule import DesiredRule, read_rules
from rules_registry.domain.rule_files.plan import TO_DO, Action, Plan, Step, plan_of
from rules_registry.domain.rule_files.plan_words import SIGNS, step_lines, summary
from rules_registry.domain.rule_files.standing import RuleChange
from rules_registry.errors import RegistryError

if TYPE_CHECKING:
    from rules_registry.client.registry_client import RegistryClient

CHANGES: Final = 3
_COLOURS: Final[dict[Action, str]] = {"create": "green", "change": "yellow", "delete": "red"}
_MAX_REASON: Final = 500
_files_option = click.option(
    "-f",
    "--files",
    "paths",
    multiple=True,
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help="A YAML file, or a folder with such files; may be given more than once.",
)


@click.command()
@_files_option
@exits_by_error
def check(paths: tuple[Path, ...]) -> None:
    """Check rule files without a registry: no key is needed. TRIPLINE_EVENT_TYPE says what rules are about."""
    say(f"Rules: {len(_read(paths))}. Nothing is wrong.")


@click.command()
@_files_option
@click.option("--dry-run", is_flag=True, help="Only show the plan.")
@click.option("--prune", is_flag=True, help="Delete rules that are in no file.")
@click.option("--replace", is_flag=True, help="Withdraw open changes of yours that ask for something else.")
@click.option("--detailed-exitcode", is_flag=True, help="With --dry-run: 3 where there is something to do.")
@click.option("--reason", help="Why, for the audit trail; by default the file that the rule is in.")
@yes_option
@client_command
def apply(
    registry: RegistryClient,
    paths: tuple[Path, ...],
    dry_run: bool,
    prune: bool,
    replace: bool,
    detailed_exitcode: bool,
    reason: str | None,
    yes: bool,
) -> None:
    """Make the registry's rules what the files say: show a plan, ask, and do it.

    A rule is known by its name, or by its ruleId. Where a second person has to approve changes, they are submitted.
    Whether a rule is paused is not in files, and stays. Exit codes: 0 applied, planned, or nothing to do; 1 a file is
    wrong, or something was refused; 2 settings or options are wrong; 3 with --dry-run --detailed-exitcode: there is
    something to do.
    """
    desired = _read(paths)
    plan = plan_of(desired, registry.registry(), prune=prune, replacing=replace)
    _tell(plan)
    steps, blocked = plan.to_do, plan.of("blocked")
    if dry_run:
        sys.exit(CHANGES if detailed_exitcode and (steps or blocked) else 0)
    if blocked:
        names = ", ".join(step.title for step in blocked)
        raise NotApplied(
            f"Nothing was applied: an open change is in the way of {names}. Have it decided or withdrawn; where it is "
            "yours, --replace withdraws it."
        )
    if not steps:
        return
    if not (yes or click.confirm("Apply?")):
        raise NotApplied("Nothing was applied.")
    _carry_out(steps, registry, reason)


def _read(paths: tuple[Path, ...]) -> list[DesiredRule]:
    files = read_files(paths)
    rules = read_rules(files, event_type_of(os.environ))
    if not rules:
        raise FilesUnusable(
            f"There is no rule in {' and '.join(map(str, paths))}: expected *.yaml files with rules."
        )
    return rules


def _tell(plan: Plan) -> None:
    for step in plan.steps:
        colour = _COLOURS[step.action] if step.progress in TO_DO else None
        for line in step_lines(step):
            say(line, colour=colour)
    say(summary(plan))


def _carry_out(steps: tuple[Step, ...], registry: RegistryClient, reason: str | None) -> None:
    taken: list[Taken] = []
    try:
        for one in carry_out(steps, registry, _reason_of(reason)):
            taken.append(one)
            say(f"  {SIGNS[one.step.action]} {one.step.title}: {one.words}")
    except RegistryError as error:
        raise NotApplied(
            f"{steps[len(taken)].title}: {error}\nStopped: {len(taken)} of {len(steps)} steps were taken. Apply again, "
            "and it goes on from there."
        ) from error
    waiting = sum(isinstance(one.outcome, RuleChange) for one in taken)
    say(
        f"Applied {len(taken) - waiting}."
        + (f" Submitted {waiting}: somebody else approves them (docs/approval.md)." if waiting else "")
    )


def _reason_of(reason: str | None) -> Callable[[Step], str]:
    def of(step: Step) -> str:
        origin = "in no file" if step.desired is None else step.desired.origin.file
        return (reason or f"rules as code: {origin}")[:_MAX_REASON]

    return of
