"""`alert-api`: the commands of this package."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from alert_api.adapters.cases.case_rebuild import rebuild as rebuild_cases
from alert_api.errors import StoreUnavailable
from alert_api.evidence_commands import evidence
from alert_api.notifier_process import run_notifier
from alert_api.openapi import document
from alert_api.processes import run_api, run_projector, run_retention
from alert_api.redrive_process import run_redrive
from alert_api.settings import (
    api_settings,
    installed_type,
    notifier_settings,
    projector_settings,
    rebuild_dsn,
    redrive_settings,
    retention_settings,
)
from tripline_http.errors import ConfigurationError
from tripline_http.logs import configure_logs


@click.group()
def main() -> None:
    """Tripline's alerts: store them, serve them."""


@main.command()
def api() -> None:
    """Serve the API and the console."""

    def run() -> None:
        settings = api_settings()
        configure_logs(settings.log_level, "alert-api")
        run_api(settings)

    _or_say_why_not(run)


@main.command()
def projector() -> None:
    """Carry alerts from Kafka into the database."""

    def run() -> None:
        settings = projector_settings()
        configure_logs(settings.log_level, "alert-projector")
        run_projector(settings)

    _or_say_why_not(run)


@main.command()
def redrive() -> None:
    """Bring in what the engine did not accept, and send again what people corrected."""

    def run() -> None:
        settings = redrive_settings()
        configure_logs(settings.log_level, "redrive")
        run_redrive(settings)

    _or_say_why_not(run)


@main.command()
def notifier() -> None:
    """Tell others what becomes of cases."""

    def run() -> None:
        settings = notifier_settings()
        configure_logs(settings.log_level, "notifier")
        run_notifier(settings)

    _or_say_why_not(run)


@main.command()
def retention() -> None:
    """Delete the oldest of the records that could not be read or were not accepted, and make partitions for alerts."""

    def run() -> None:
        settings = retention_settings()
        configure_logs(settings.log_level, "retention")
        run_retention(settings)

    _or_say_why_not(run)


@main.group()
def cases() -> None:
    """Episodes and cases, which are made from the log of alerts and of people's work.

    Both commands fold the whole log anew in one transaction, as the projector's login. Alerts and work on cases wait
    meanwhile; what is shown stays as it was.
    """


@cases.command()
def check() -> None:
    """Say whether they are what the log adds up to, and change nothing; ends with 1 where they are not."""
    _or_say_why_not(lambda: _fold_anew(keep=False))


@cases.command()
def rebuild() -> None:
    """Make them again from the log."""
    _or_say_why_not(lambda: _fold_anew(keep=True))


def _fold_anew(*, keep: bool) -> None:
    before, after = rebuild_cases(
        rebuild_dsn(), keep=keep, progress=lambda position: click.echo(f"folded up to {position}", err=True)
    )
    for table, digest in after.items():
        same = before[table] == digest
        click.echo(f"{table}: {'as the log has it' if same else 'not what the log adds up to'} ({digest})")
    if before != after and not keep:
        sys.exit(1)


main.add_command(evidence)


@main.command()
def openapi() -> None:
    """Print the OpenAPI document of the installation's event type (of the default one it is kept)."""
    _or_say_why_not(lambda: click.echo(document(installed_type()), nl=False))


def _or_say_why_not(run: Callable[[], None]) -> None:
    try:
        run()
    except ConfigurationError as error:
        click.echo(str(error), err=True)
        sys.exit(2)
    except StoreUnavailable as error:
        click.echo(f"The database cannot be used: {error}", err=True)
        sys.exit(1)
