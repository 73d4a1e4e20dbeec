"""Committed and planned offsets, read from the streaming query's own checkpoint.

Spark commits no offsets to Kafka. `commits/<n>` exists once micro-batch n is committed, `offsets/<n>` then says where
it ended: a line with the format's version, one with metadata, one per source: {topic: {partition: offset}}, offsets
exclusive.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

Ends = dict[str, dict[int, int]]
"""Exclusive ends by topic and partition."""


def last_commit(folder: Path) -> int | None:
    """The number of the last committed micro-batch; None before the first."""
    return _last(folder / "commits")


def is_in_flight(folder: Path) -> bool:
    """Whether a micro-batch is planned and not committed: if the engine is dead it will be repeated."""
    return _last(folder / "offsets") != last_commit(folder)


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


def _source(line: str) -> Mapping[str, Mapping[str, int]]:
    """One source's line; the line of a source without any record yet is a dash."""
    try:
        offsets = json.loads(line)
    except ValueError:
        return {}
    return offsets if isinstance(offsets, dict) else {}
