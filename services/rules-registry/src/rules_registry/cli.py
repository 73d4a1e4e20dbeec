"""`rules-registry api | relay | status-projector | republish | openapi`, and the commands of the client."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click
from environs import Env

from rules_registry.audit_cli import audit
from rules_registry.client import apply_cli, backtest_cli, guard_cli, review_cli, rules_cli, shadow_cli
from rules_registry.errors import RegistryError
from rules_registry.processes import run_api, run_relay, run_republish, run_status_projector
from rules_registry.settings import (
    read_api_settings,
    read_event_type,
    read_projector_settings,
    read_relay_settings,
)
from tripline_http.errors import ConfigurationError


@click.group()
def main() -> None:
    """Tripline's rules registry. Settings come from the environment (TRIPLINE_…)."""


@main.command()
def api() -> None:
    """Serve the HTTP API."""
    _run(lambda: run_api(read_api_settings(Env())))


@main.command()
def relay() -> None:
    """Deliver the log of rule events to Kafka, in order; one relay is active, others wait."""
    _run(lambda: run_relay(read_relay_settings(Env())))


@main.command("status-projector")
def status_projector() -> None:
    """Keep what the engine says it has applied."""
    _run(lambda: run_status_projector(read_projector_settings(Env())))


@main.command()
@click.option(
    "--from",
    "since",
    type=click.IntRange(min=1),
    help="Only from this position on, into a topic that has records.",
)
def republish(since: int | None) -> None:
    """Write the topic rules.v1 anew from the log of rule events.

    For a topic that was lost: it has to be there and empty. For an engine that waits for a position: give --from. No
    relay may run meanwhile. The settings are the relay's.
    """
    _run(lambda: _republish(since))


for _command in (
    audit,
    rules_cli.list_rules,
    rules_cli.show,
    rules_cli.diff,
    rules_cli.export,
    rules_cli.rule_schema,
    apply_cli.check,
    apply_cli.apply,
    review_cli.changes,
    review_cli.submit,
    review_cli.approve,
    review_cli.revert,
    shadow_cli.shadow,
    guard_cli.guard,
    backtest_cli.backtest,
):
    main.add_command(_command)


@main.command()
def openapi() -> None:
    """Print the OpenAPI document of the installation's event type (of the default one it is committed)."""
    # Here and not above: the other processes need no Flask.
    from rules_registry.openapi_document import openapi_document  # noqa: PLC0415

    _run(lambda: click.echo(openapi_document(read_event_type(Env())), nl=False))


def _republish(since: int | None) -> None:
    try:
        count = run_republish(read_relay_settings(Env()), since)
    except RegistryError as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    click.echo(f"Republished {count} events into rules.v1.")


def _run(process: Callable[[], None]) -> None:
    try:
        process()
    except ConfigurationError as error:
        click.echo(str(error), err=True)
        sys.exit(2)
