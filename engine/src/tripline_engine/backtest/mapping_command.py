"""The command `propose-mapping`: a mapping for a file, or the file's first rows as a mapping reads them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq

from tripline_contracts.errors import ContractError, UnreadableFile
from tripline_contracts.event_type import DEFAULT, EventType
from tripline_contracts.installed import installed
from tripline_contracts.recordings.parquet_rows import ParquetRows
from tripline_contracts.recordings.proposals.preview import Preview, preview_of
from tripline_contracts.recordings.proposals.proposal_text import propose
from tripline_contracts.recordings.recording import open_recording
from tripline_engine.backtest.ordered.recorded_file import UnreadableRecording, mapping_of
from tripline_engine.errors import BadSettings


def propose_mapping(file: Path, mapping: Path | None) -> None:
    """Prints it. Raises UnreadableRecording."""
    event_type = _event_type()
    parquet = ParquetRows(pa, pq)
    try:
        with file.open("rb") as opened:
            if mapping is None:
                click.echo(propose(opened, event_type, parquet), nl=False)
                return
            recording = open_recording(opened, event_type, mapping_of(mapping, event_type), parquet=parquet)
            _print(file.name, preview_of(recording, event_type))
    except (UnreadableFile, OSError) as error:
        raise UnreadableRecording(f"{file}: {error}") from error


def _event_type() -> EventType:
    """A proposal needs no Kafka, and none of the settings that say where one is."""
    try:
        return installed(os.environ.get("TRIPLINE_EVENT_TYPE", DEFAULT))
    except ContractError as error:
        raise BadSettings(f"TRIPLINE_EVENT_TYPE: {error}") from error


def _print(name: str, first: Preview) -> None:
    for row in first.rows:
        click.echo(json.dumps({"line": row.line, **row.values}, ensure_ascii=False))
    for refused in first.refused:
        click.echo(f"{name}, line {refused.line}: {refused.reason}", err=True)
    unused = f"; not read: {', '.join(first.unused)}" if first.unused else ""
    rows = "rows" if first.ends else "first rows"
    click.echo(f"{name}: of {first.read + first.bad} {rows} {first.bad} cannot be read{unused}", err=True)
