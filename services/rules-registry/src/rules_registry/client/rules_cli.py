"""`rules-registry list | show | diff | export | rule-schema`: looking, and taking home."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rules_registry.client.client_commands import REFUSED, client_command, exits_by_error
from rules_registry.client.client_settings import event_type_of
from rules_registry.client.folders import write_files
from rules_registry.client.terminal import say
from rules_registry.domain.rule_files.editor_schema import PARTS, schema_text
from rules_registry.domain.rule_files.rule_text import SCHEMA_FILE, files_of, rule_text
from rules_registry.domain.wording.rule_words import describe

if TYPE_CHECKING:
    from rules_registry.client.registry_client import RegistryClient


@click.command("list")
@click.option("--state", type=click.Choice(["ACTIVE", "PAUSED", "DELETED"]), help="Only those.")
@client_command
def list_rules(registry: RegistryClient, state: str | None) -> None:
    """List rules: id, version, state, name."""
    rules = registry.rules(state)
    for rule in rules:
        say(f"{rule.rule_id:6} {rule.version:4} {rule.state:8} {rule.name}")
    say(f"{len(rules)} rules", err=True)


@click.command()
@click.argument("rule")
@client_command
def show(registry: RegistryClient, rule: str) -> None:
    """Show RULE, an id or a name, in words and as the document of a rule file."""
    standing = registry.rule(rule)
    say(f"# rule {standing.rule_id}, version {standing.version}, {standing.state}")
    say(f"# {describe(standing.definition)}")
    click.echo(rule_text(standing), nl=False)


@click.command()
@click.argument("rule")
@click.option("--from", "before", type=click.IntRange(min=1), help="Default: the version before.")
@click.option("--to", "after", type=click.IntRange(min=1), help="Default: the current version.")
@client_command
def diff(registry: RegistryClient, rule: str, before: int | None, after: int | None) -> None:
    """Tell what is different between two versions of RULE, an id or a name."""
    standing = registry.rule(rule)
    after = after or standing.version
    before = before or after - 1
    if before < 1:
        say(f"Rule {standing.rule_id} has one version: there is nothing to compare it with.", err=True)
        sys.exit(REFUSED)
    say(f"{standing.name} (rule {standing.rule_id}), version {before} → {after}:")
    say(f"  {registry.differences(standing.rule_id, before, after)}")


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--overwrite", is_flag=True, help="Also over files that are there, whose comments are lost.")
@client_command
def export(registry: RegistryClient, folder: Path, overwrite: bool) -> None:
    """Write each rule into a YAML file in FOLDER, and beside them the schema that editors check them by.

    Files of rules that have gone since an earlier export stay.
    """
    texts = files_of(registry.rules())
    write_files(folder, {**texts, SCHEMA_FILE: _schema()}, overwrite=overwrite)
    say(f"Wrote {len(texts)} rules into {folder}.")


@click.command("rule-schema")
@exits_by_error
def rule_schema() -> None:
    """Print the JSON Schema that editors check rule files by (of the default event type it is committed)."""
    click.echo(_schema(), nl=False)


def _schema() -> str:
    # Here and not above: the other processes need no JSON Schema.
    from tripline_contracts import schemas  # noqa: PLC0415

    declared = event_type_of(os.environ)
    return schema_text({name: schemas.load(name, declared) for name in PARTS})
