"""`tripline-archiver`: archives until SIGTERM; `tripline-archiver spans` says what the archive has."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from tripline_engine import logs
from tripline_engine.archive.archiver import stores
from tripline_engine.archive.file_ranges import archived_ranges
from tripline_engine.archive.process import run
from tripline_engine.archive.settings import from_environment
from tripline_engine.errors import EngineError
from tripline_engine.private_files import private_files


@click.group(invoke_without_command=True)
@click.pass_context
def main(context: click.Context) -> None:
    """Keeps what Kafka forgets: transactions, order and ticks, as Parquet files.

    Without a command it archives until SIGTERM. Settings come from TRIPLINE_… environment variables.
    """
    if context.invoked_subcommand is None:
        with _sentences(), private_files():
            settings = from_environment()
            logs.configure(settings.log_level)
            run(settings, settings.event_type)


@main.command()
def spans() -> None:
    """Say which offsets the archive has, a line for each topic, partition and range without a gap."""
    with _sentences():
        settings = from_environment()
        for topic, store in stores(settings, settings.event_type).items():
            for partition, files in store.files().items():
                for span in archived_ranges(files):
                    in_range = [p for p in files if span.first <= p.first < span.until]
                    days = sorted({file.date for file in in_range})
                    click.echo(
                        f"{topic} partition {partition}: offsets {span.first} to {span.until - 1},"
                        f" {days[0]} to {days[-1]}, {len(in_range)} files"
                    )


@contextmanager
def _sentences() -> Iterator[None]:
    """Errors are sentences, not tracebacks."""
    try:
        yield
    except EngineError as error:
        click.echo(f"tripline-archiver: {error}", err=True)
        sys.exit(1)
