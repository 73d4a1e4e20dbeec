"""What a rebuilt checkpoint begins with: the shards' state, and where to read on. Until the first commit.

    <checkpoint>/tripline.json    names the offsets under `begins`; only with that is the folder below of any use
    <checkpoint>/beginning/       a state log for each shard

The first micro-batch takes the state over. It may run several times, so all of this stays until it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import Final

from tripline_engine.spark.checkpoint.checkpoint import resume_offsets, spark_folder
from tripline_engine.spark.checkpoint.spark_offsets import Ends, committed_ends, last_commit

_FOLDER: Final = "beginning"


@dataclass(frozen=True, slots=True)
class RestorePoint:
    """Exclusive ends of what has been judged, by topic and partition, and the folder with the shards' state logs."""

    ends: Ends
    folder: Path

    def state_file(self, shard: int) -> Path:
        """The state log of a shard."""
        return _state_file(self.folder, shard)


def read_restore_point(checkpoint: Path) -> RestorePoint | None:
    """None for a checkpoint that wasn't rebuilt, and once its first micro-batch is committed."""
    ends = resume_offsets(checkpoint)
    if ends is None or last_commit(spark_folder(checkpoint)) is not None:
        return None
    return RestorePoint(ends, checkpoint / _FOLDER)


def judged_ends(checkpoint: Path) -> Ends:
    """Where the part that is judged and committed ends; empty before the first commit of an engine that began anew."""
    beginning = read_restore_point(checkpoint)
    return beginning.ends if beginning else committed_ends(spark_folder(checkpoint))


def write_restore_point(checkpoint: Path, states: Iterable[Iterable[tuple[str, bytes]]]) -> None:
    """The state log of each shard, all of them or none; on the disk when this returns."""
    # the driver of a stream has nothing to write, and no time to import Arrow before Java has started
    from tripline_engine.spark.checkpoint.state_file import write_state  # noqa: PLC0415

    aside = checkpoint / f"{_FOLDER}.new"
    for folder in (aside, checkpoint / _FOLDER):
        rmtree(folder, ignore_errors=True)
    aside.mkdir()
    for shard, items in enumerate(states):
        write_state(_state_file(aside, shard), items)
    _sync(aside)
    aside.rename(checkpoint / _FOLDER)
    _sync(checkpoint)


def remove_restore_point(checkpoint: Path) -> None:
    """Frees the disk once nobody needs it; it may be gigabytes."""
    if read_restore_point(checkpoint) is None:
        rmtree(checkpoint / _FOLDER, ignore_errors=True)


def _state_file(folder: Path, shard: int) -> Path:
    return folder / f"shard-{shard}.arrow"


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
