"""`tripline-generator replay FILE`: plays a recording into Kafka and ends."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from uuid import UUID

import click
from environs import Env

from tripline_contracts.errors import InvalidMapping, UnreadableFile
from tripline_contracts.event_type import EventType
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_contracts.recordings.file_mapping import FORMATS, FileMapping, Format
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_contracts.recordings.proposals.proposal_text import propose
from tripline_demo.generator import process
from tripline_demo.generator.api.schemas import parse_speed
from tripline_demo.generator.errors import InvalidSettings
from tripline_demo.generator.output.kafka_outlet import KafkaOutlet
from tripline_demo.generator.recordings.kafka_engine import KafkaEngine
from tripline_demo.generator.recordings.parquet_rows import parquet_rows
from tripline_demo.generator.recordings.reception import play
from tripline_demo.generator.recordings.recording import lines_of, opened
from tripline_demo.generator.recordings.replay import Order, Progress, Reception, Replay, source_of
from tripline_demo.generator.settings import read_event_type, read_kafka
from tripline_http.errors import ProblemError

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


def _speed(_context: click.Context, _parameter: click.Parameter, text: str) -> float | None:
    try:
        return parse_speed(text)
    except ProblemError as error:
        raise click.BadParameter(error.errors[0].message) from error


@click.command()
@click.argument("file", type=_FILE)
@click.option("--speed", default="1", show_default=True, callback=_speed, help="A multiplier, or max.")
@click.option(
    "--shift/--no-shift", default=True, help="Move the first line to now (default), or keep all times."
)
@click.option(
    "--backfill", type=click.UUID, help="The commandId of a START_BACKFILL: the lines belong to it."
)
@click.option("--mapping", "mapping_file", type=_FILE, help="A mapping file: which columns are which fields.")
@click.option(
    "--new-ids", is_flag=True, help="Give each id another one: the engine knows those of an earlier replay."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="Default: what the mapping says, or the file looks like.",
)
@click.option("--propose", "is_proposed", is_flag=True, help="Print a mapping for FILE, and play nothing.")
def replay(
    file: Path,
    speed: float | None,
    *,
    shift: bool,
    backfill: UUID | None,
    mapping_file: Path | None,
    new_ids: bool,
    form: Format | None,
    is_proposed: bool,
) -> None:
    """Plays FILE into the broker of TRIPLINE_KAFKA; exit code 1 if a line did not get there.

    CSV, JSON lines, a JSON array or Parquet, packed by gzip or zstd or not.
    """
    if is_proposed:
        _propose(file)
        return
    try:
        kafka, event_type = read_kafka(), read_event_type(Env())
        mapping = None if mapping_file is None else read_mapping(mapping_file.read_bytes(), event_type)
    except InvalidMapping as error:
        raise click.BadParameter(str(error), param_hint="--mapping") from error
    except InvalidSettings as error:
        raise click.ClickException(str(error)) from error
    order = Order(
        speed,
        "now" if shift else "none",
        None if backfill is None else str(backfill),
        process.new_id() if new_ids else None,
        source_of(process.new_id()),
    )
    _play(file, order, kafka, event_type, mapping, form)


def _propose(file: Path) -> None:
    try:
        with file.open("rb") as opened_file:
            click.echo(propose(opened_file, read_event_type(Env()), parquet_rows), nl=False)
    except UnreadableFile as error:
        raise click.ClickException(f"{file.name}: {error}.") from error
    except InvalidSettings as error:
        raise click.ClickException(str(error)) from error


def _play(
    file: Path,
    order: Order,
    kafka: KafkaCluster,
    event_type: EventType,
    mapping: FileMapping | None,
    form: Format | None,
) -> None:
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    signal.signal(signal.SIGINT, lambda *_: stopped.set())
    with file.open("rb") as opened_file:
        try:
            recording = opened(opened_file, event_type, mapping, form)
        except UnreadableFile as error:
            raise click.ClickException(f"{file.name}: {error}.") from error
        playing = Replay(order, event_type, KafkaOutlet(kafka), process.wall_ms, stopped.wait)
        engine = KafkaEngine(kafka, event_type, stopped.wait)
        play(playing, lines_of(recording, event_type), order.source, engine)
    _report(playing.progress, recording.unused)


def _told(engine: Reception | str | None) -> str:
    """A sentence of what the engine made of the lines."""
    if not isinstance(engine, Reception):
        return f"what it made of them cannot be said ({engine or 'the replay was broken off'})"
    refused = "".join(f", {count} refused ({reason})" for reason, count in engine.refused.items())
    known = f", {engine.known} known already (--new-ids gives others)" if engine.known else ""
    waiting = f", {engine.waiting} not judged yet" if engine.waiting else ""
    return f"{engine.taken} taken{known}{refused}{waiting}"


def _report(done: Progress, unused: tuple[str, ...]) -> None:
    for bad in done.bad_lines:
        click.echo(f"line {bad.line}: {bad.reason}", err=True)
    click.echo(
        f"{done.state}: {done.sent - done.failed} lines in Kafka, {done.bad} bad, {done.failed} failed"
    )
    click.echo(f"the engine: {_told(done.engine)}")
    if unused:
        click.echo(f"columns that are not read: {', '.join(unused)}")
    if done.latest_failure:
        click.echo(f"latest failure: {done.latest_failure}", err=True)
    if done.bad or done.failed or done.state != "finished":
        sys.exit(1)
