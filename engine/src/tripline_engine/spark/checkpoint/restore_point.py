"""Restore point of a rebuilt checkpoint: the shards' state and the offsets to resume at, until the first commit.

    <checkpoint>/tripline.json    names the offsets under `begins`; only with that is the folder below of any use
    <checkpoint>/beginning/       a state log for each shard

The first micro-batch loads the state. It may run several times, so the folder stays until it is committed.
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
    """Exclusive ends of the judged offsets, by topic and partition, and the folder of the shards' state logs."""

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
    """Exclusive ends of judged and committed offsets; empty before the first commit of a new engine."""
    restore_point = read_restore_point(checkpoint)
    return restore_point.ends if restore_point else committed_ends(spark_folder(checkpoint))


def write_restore_point(checkpoint: Path, states: Iterable[Iterable[tuple[str, bytes]]]) -> None:
    """Writes the state logs of all shards atomically; fsynced when this returns."""
    # the driver of a stream has nothing to write, and no time to import Arrow before Java has started
    from tripline_engine.spark.checkpoint.state_file import write_state  # noqa: PLC0415

    unfinished = checkpoint / f"{_FOLDER}.new"
    for folder in (unfinished, checkpoint / _FOLDER):
        rmtree(folder, ignore_errors=True)
    unfinished.mkdir()
    for shard, items in enumerate(states):
        write_state(_state_file(unfinished, shard), items)
    _sync(unfinished)
    unfinished.rename(checkpoint / _FOLDER)
    _sync(checkpoint)


def remove_restore_point(checkpoint: Path) -> None:
    """Deletes the folder, gigabytes perhaps, once the first micro-batch is committed."""
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
