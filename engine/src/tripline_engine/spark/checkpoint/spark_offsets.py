"""Committed and planned offsets, read from the streaming query's own checkpoint.

Spark commits no offsets to Kafka. `commits/<n>` exists once micro-batch n is committed, `offsets/<n>` then says where
it ended: a line with the format's version, one with metadata, one per source: {topic: {partition: offset}}, offsets
exclusive.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

Ends = dict[str, dict[int, int]]
"""Exclusive ends by topic and partition."""

_INITIAL: Final = b"\x00v1\n"
"""What precedes the JSON of a source's first offsets: a byte for old versions of Spark, and the format's version."""


def last_commit(folder: Path) -> int | None:
    """The number of the last committed micro-batch; None before the first."""
    return _last(folder / "commits")


def last_planned(folder: Path) -> int | None:
    """The number of the last planned micro-batch, committed or not; None before the first."""
    return _last(folder / "offsets")


def is_in_flight(folder: Path) -> bool:
    """Whether a micro-batch is planned and not committed: if the engine is dead it will be repeated."""
    return last_planned(folder) != last_commit(folder)


def _last(folder: Path) -> int | None:
    if not folder.is_dir():
        return None
    return max((int(path.name) for path in folder.iterdir() if path.name.isdigit()), default=None)


def committed_ends(folder: Path) -> Ends:
    """Ends of the committed offsets; empty before the first commit."""
    batch = last_commit(folder)
    return {} if batch is None else planned_ends(folder, batch)


def planned_ends(folder: Path, batch: int) -> Ends:
    """Ends of micro-batch `batch`, committed or not. Raises FileNotFoundError if it has not been planned."""
    ends: Ends = {}
    for line in (folder / "offsets" / str(batch)).read_text(encoding="utf-8").splitlines()[2:]:
        for topic, partitions in _source(line).items():
            ends.setdefault(topic, {}).update({int(p): int(end) for p, end in partitions.items()})
    return ends


def initial_ends(folder: Path, source: int) -> Ends | None:
    """Where a source of the query began, by its number in the plan; None if Spark has not planned with it yet."""
    try:
        text = (folder / "sources" / str(source) / "0").read_bytes()
    except FileNotFoundError:
        return None
    offsets = json.loads(text.removeprefix(_INITIAL))
    return {topic: {int(p): int(end) for p, end in ends.items()} for topic, ends in offsets.items()}


def write_initial_ends(folder: Path, source: int, ends: Ends) -> None:
    """As Spark's Kafka source writes them before its first micro-batch. Atomic."""
    path = folder / "sources" / str(source) / "0"
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(".0.new")
    new.write_bytes(_INITIAL + json.dumps(ends, separators=(",", ":")).encode())
    new.replace(path)


def _source(line: str) -> Mapping[str, Mapping[str, int]]:
    """One source's line; the line of a source without any record yet is a dash."""
    try:
        offsets = json.loads(line)
    except ValueError:
        return {}
    return offsets if isinstance(offsets, dict) else {}
