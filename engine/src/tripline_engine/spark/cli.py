"""`tripline-engine run` and `tripline-engine warm-up`."""

from __future__ import annotations

import sys

import click

from tripline_engine import logs
from tripline_engine.errors import EngineError
from tripline_engine.spark.settings import from_environment


@click.group()
def main() -> None:
    """Tripline's engine: judges a stream of transactions by rules that change while it runs."""


@main.command()
def run() -> None:
    """Run until SIGTERM. Settings come from TRIPLINE_… environment variables."""
    try:
        settings = from_environment()
        logs.configure(settings.log_level)
        # Spark takes a second to import: settings are refused before that
        from tripline_engine.spark.run import run as run_engine  # noqa: PLC0415

        run_engine(settings)
    except EngineError as error:
        click.echo(f"tripline-engine: {error}", err=True)
        sys.exit(1)


@main.command("warm-up")
def warm_up() -> None:
    """Compile the engine's kernels into their cache, so that the first micro-batch doesn't wait for it."""
    from tripline_engine.spark.warm_up import warm_up as compile_kernels  # noqa: PLC0415

    compile_kernels()
