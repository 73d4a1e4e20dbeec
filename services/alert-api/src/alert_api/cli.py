"""`alert-api`: the commands of this package."""

from __future__ import annotations

import sys
from collections.abc import Callable

import click

from alert_api.openapi import document
from alert_api.processes import run_api, run_projector, run_retention
from alert_api.redrive_process import run_redrive
from alert_api.settings import (
    api_settings,
    installed_type,
    projector_settings,
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
def retention() -> None:
    """Delete the oldest of the records that could not be read or were not accepted, by age, number and size."""

    def run() -> None:
        settings = retention_settings()
        configure_logs(settings.log_level, "retention")
        run_retention(settings)

    _or_say_why_not(run)


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
