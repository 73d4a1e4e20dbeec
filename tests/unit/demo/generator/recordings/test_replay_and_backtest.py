"""Replay, backtest and the first rows of a proposal take the same files with the same mappings: the same lines are
read, and the same are not."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.unit.demo.generator.recordings.test_files_as_found import FOUND, TRANSACTION
from tripline_contracts.errors import UnreadableFile
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_contracts.recordings.proposals.file_head import head_of_bytes
from tripline_contracts.recordings.proposals.preview import preview
from tripline_demo.generator.recordings.recording import Line, lines_of, opened
from tripline_engine.backtest.ordered.event_runs import LINE
from tripline_engine.backtest.ordered.recorded_file import RecordedFile, UnreadableRecording

Lines = tuple[list[int], list[int]]
"""Those that are read, and those that are not."""


def replayed(content: bytes, text: str | None) -> Lines | str:
    mapping = None if text is None else read_mapping(text, TRANSACTION)
    try:
        items = list(lines_of(opened(io.BytesIO(content), TRANSACTION, mapping), TRANSACTION))
    except UnreadableFile as error:
        return str(error)
    is_read = [isinstance(item, Line) for item in items]
    return (
        [item.line for item, read in zip(items, is_read, strict=True) if read],
        [item.line for item, read in zip(items, is_read, strict=True) if not read],
    )


def backtested(path: Path, text: str | None) -> Lines | str:
    mapping = None if text is None else read_mapping(text, TRANSACTION)
    file = RecordedFile(0, path, TRANSACTION, mapping)
    try:
        lines = [line for piece, _ in file.transactions() for line in piece[LINE].to_pylist()]
    except UnreadableRecording as error:
        return str(error).partition(f"{path}: ")[2]
    return lines, sorted(bad.line for bad in file.report.unread)


@pytest.mark.parametrize("name", FOUND)
def test_replay_and_backtest_read_the_same_lines(name: str, tmp_path: Path) -> None:
    file = FOUND[name]
    path = tmp_path / "recording"
    path.write_bytes(file.content)
    assert replayed(file.content, file.mapping) == backtested(path, file.mapping)


@pytest.mark.parametrize("name", [name for name in FOUND if "Parquet" not in name and FOUND[name].rows])
def test_the_first_rows_are_those_of_the_replay(name: str) -> None:
    file = FOUND[name]
    mapping = None if file.mapping is None else read_mapping(file.mapping, TRANSACTION)
    first = preview(head_of_bytes(file.content, is_whole=True), TRANSACTION, mapping)
    lines = [row.line for row in first.rows], [bad.line for bad in first.refused]
    assert lines == replayed(file.content, file.mapping)
