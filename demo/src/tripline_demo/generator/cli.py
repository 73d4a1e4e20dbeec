"""`tripline-generator`: serves the API and sends traffic; `replay FILE` plays a recording and ends."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from uuid import UUID

import click
from environs import Env
from flask import Flask

from tripline_contracts.errors import InvalidMapping, UnreadableFile
from tripline_contracts.recordings.file_mapping import FORMATS, Format
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_demo.generator import process
from tripline_demo.generator.api.application import description
from tripline_demo.generator.api.schemas import parse_speed
from tripline_demo.generator.errors import InvalidSettings
from tripline_demo.generator.output.kafka_outlet import KafkaOutlet
from tripline_demo.generator.recordings.recording import lines_of, opened
from tripline_demo.generator.recordings.replay import Order, Progress, Replay
from tripline_demo.generator.settings import read_event_type, read_kafka, read_settings
from tripline_http.errors import ConfigurationError, ProblemError
from tripline_http.keys.watched_key_file import WatchedKeyFile
from tripline_http.logs import configure_logs
from tripline_http.server import serve


@click.group(invoke_without_command=True)
@click.pass_context
def main(context: click.Context) -> None:
    """Makes transactions for demonstrations and tests. Without a command: serves the API and sends traffic."""
    if context.invoked_subcommand is None:
        _serve()


def _serve() -> None:
    try:
        settings = read_settings(Env())
        configure_logs(settings.log_level, "tripline-generator")
        keys = WatchedKeyFile(settings.api_keys_file)
    except (InvalidSettings, ConfigurationError) as error:
        raise click.ClickException(str(error)) from error
    running: list[process.Running] = []

    def load() -> Flask:
        running.append(process.start(settings, keys))
        return running[0].app

    def stop() -> None:
        for one in running:
            one.stop()

    serve(load, settings.bind, on_stop=stop)


@main.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--speed", default="1", show_default=True, help="A multiplier, or max.")
@click.option(
    "--shift/--no-shift", default=True, help="Move the first line to now (default), or keep all times."
)
@click.option(
    "--backfill", type=click.UUID, help="The commandId of a START_BACKFILL: the lines belong to it."
)
@click.option(
    "--mapping",
    "mapping_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A mapping file: which columns are which fields.",
)
@click.option(
    "--new-ids",
    is_flag=True,
    help="Give each id another one: the engine knows those of a recording that it has seen.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="Default: what the mapping says, or the file looks like.",
)
def replay(
    file: Path,
    speed: str,
    *,
    shift: bool,
    backfill: UUID | None,
    mapping_file: Path | None,
    new_ids: bool,
    form: Format | None,
) -> None:
    """Plays FILE into the broker of TRIPLINE_KAFKA; exit code 1 if a line did not get there.

    CSV, JSON lines, a JSON array or Parquet, packed by gzip or zstd or not.
    """
    try:
        backfill_id = None if backfill is None else str(backfill)
        order = Order(
            parse_speed(speed), "now" if shift else "none", backfill_id, process.new_id() if new_ids else None
        )
        kafka, event_type = read_kafka(), read_event_type(Env())
        mapping = None if mapping_file is None else read_mapping(mapping_file.read_bytes(), event_type)
    except ProblemError as error:
        raise click.BadParameter(error.errors[0].message, param_hint="--speed") from error
    except InvalidMapping as error:
        raise click.BadParameter(str(error), param_hint="--mapping") from error
    except InvalidSettings as error:
        raise click.ClickException(str(error)) from error
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    signal.signal(signal.SIGINT, lambda *_: stopped.set())
    with file.open("rb") as opened_file:
        try:
            recording = opened(opened_file, event_type, mapping, form)
        except UnreadableFile as error:
            raise click.ClickException(f"{file.name}: {error}.") from error
        playing = Replay(order, event_type, KafkaOutlet(kafka), process.wall_ms, stopped.wait)
        playing.run(lines_of(recording, event_type))
    _report(playing.progress, recording.unused)


@main.command()
def openapi() -> None:
    """Prints the API's OpenAPI document, of the installation's event type."""
    try:
        click.echo(description(read_event_type(Env())), nl=False)
    except InvalidSettings as error:
        raise click.ClickException(str(error)) from error


def _report(done: Progress, unused: tuple[str, ...]) -> None:
    for bad in done.bad_lines:
        click.echo(f"line {bad.line}: {bad.reason}", err=True)
    click.echo(
        f"{done.state}: {done.sent - done.failed} lines in Kafka, {done.bad} bad, {done.failed} failed"
    )
    if unused:
        click.echo(f"columns that are not read: {', '.join(unused)}")
    if done.latest_failure:
        click.echo(f"latest failure: {done.latest_failure}", err=True)
    if done.bad or done.failed or done.state != "finished":
        sys.exit(1)


if __name__ == "__main__":
    main()
