"""Where a kill has struck, by what the fault point said and by what the checkpoint holds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

PLACES = ("plan", "task", "flush", "commit")


@dataclass(frozen=True, slots=True)
class Place:
    """A kill in the middle of a micro-batch.

    :ivar shard: whose task had the transaction waited for; None before there are shards
    :ivar stack: of Spark's own thread, where that was waited for
    :ivar written: the shards whose state after this micro-batch is in the checkpoint
    :ivar shards: all of them
    """

    where: str
    batch: int
    shard: int | None
    stack: list[str]
    written: set[int]
    shards: set[int]


def read_place(spark: Path, marker: Path, shards: int) -> Place:
    """Of an engine that is dead, before the next one starts. Its micro-batch was planned and not committed."""
    said = json.loads(marker.read_text())
    batch = int(said["batch"])
    assert (spark / "offsets" / str(batch)).exists()
    assert not (spark / "commits" / str(batch)).exists()
    every = set(range(shards))
    written = {shard for shard in every if _is_written(spark / "state" / "0" / str(shard), batch)}
    return Place(said["where"], batch, said.get("shard"), said.get("stack", []), written, every)


def assert_is(kill_place: Place, where: str) -> None:
    """By the checkpoint: whose state the micro-batch had written; and where Spark's thread stood."""
    assert kill_place.where == where
    match where:
        case "plan":
            assert kill_place.written == set()
        case "task":
            assert kill_place.shard not in kill_place.written
        case "flush":
            assert kill_place.written == kill_place.shards - {kill_place.shard}
        case "commit":
            assert kill_place.written == kill_place.shards
            # it waited for the lock under which it commits what the sink is through with
            assert "runBatch" in kill_place.stack
            assert "constructNextBatch" not in kill_place.stack


def _is_written(folder: Path, batch: int) -> bool:
    # micro-batch n makes version n + 1
    return any((folder / f"{batch + 1}.{kind}").exists() for kind in ("changelog", "zip"))
