"""`rules-registry audit verify`."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import click
from environs import Env

from rules_registry.adapters.audit.trail_reader import open_trail
from rules_registry.adapters.rules_reader import open_rules_reader
from rules_registry.domain.audit.audit_entry import ChainHead
from rules_registry.errors import RegistryError
from rules_registry.service.audit_verification import Verification, verify, verify_export
from rules_registry.settings import read_verification_settings
from tripline_http.errors import ConfigurationError

_SHOWN = 12


class _Head(click.ParamType[ChainHead]):
    name = "number:hash"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> ChainHead:
        number, _, digest = str(value).partition(":")
        if not number.isascii() or not number.isdigit() or len(digest) != len(ChainHead().hash):
            self.fail(f"{value!r} is no head: expected its number, a colon and its hash", param, ctx)
        return ChainHead(int(number), digest.lower())


@click.group("audit")
def audit() -> None:
    """The audit trail."""


@audit.command("verify")
@click.argument("export", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@click.option("--head", type=_Head(), help="NUMBER:HASH as GET /v1/audit/head said earlier.")
def verify_trail(export: Path | None, head: ChainHead | None) -> None:
    """Check that nothing in the audit trail was altered, left out or put in.

    With EXPORT, a file of GET /v1/audit/export, only its chain. Without, on the server (TRIPLINE_REGISTRY_DSN): that
    the log says the same, that each rule stands as its events made it, and that rules.v1 (where TRIPLINE_KAFKA is set)
    and the engine hold the same. Exit code 1 where something does not hold.
    """
    try:
        verification = _of_file(export, head) if export is not None else _of_server(head)
    except ConfigurationError as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    except RegistryError as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    _tell(verification)
    sys.exit(1 if verification.problems else 0)


def _of_file(export: Path, head: ChainHead | None) -> Verification:
    with export.open(encoding="utf-8") as lines:
        return verify_export(lines, head)


def _of_server(head: ChainHead | None) -> Verification:
    settings = read_verification_settings(Env())
    with ExitStack() as kept:
        topic = None if settings.kafka is None else kept.enter_context(open_rules_reader(settings.kafka))
        return verify(kept.enter_context(open_trail(settings.dsn)), topic, head)


def _tell(verification: Verification) -> None:
    if verification.rules:
        click.echo(
            f"{'rule':>6} {'version':>7} {'position':>8} {'definition':{_SHOWN}} {'state':8} {'topic':9} engine"
        )
    for line in verification.rules:
        rule = line.rule
        click.echo(
            f"{rule.rule_id:6} {rule.version:7} {rule.position:8} {rule.definition_hash[:_SHOWN]} {rule.state:8} "
            f"{line.topic:9} {line.engine}"
        )
    for problem in verification.problems:
        click.echo(f"WRONG: {problem}.")
    said = f"{verification.head.sequence} entries" + (
        f", {verification.events} events" if verification.rules else ""
    )
    verdict = (
        f"{len(verification.problems)} things do not hold" if verification.problems else "everything holds"
    )
    click.echo(f"{said}; head {verification.head.sequence}:{verification.head.hash}; {verdict}.")
