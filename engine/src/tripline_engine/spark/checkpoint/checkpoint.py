"""The engine's checkpoint: settings pinned for its whole life, and its lock.

`tripline.json` in the checkpoint pins the engine's id and all settings that can't change under existing state; a lock
file keeps a second driver out, which Spark itself doesn't for a local checkpoint. Spark's own files are in `spark/`,
blob files of the state logs in `segments/`.
Spark doesn't fsync local checkpoints: they survive kill −9, but not every loss of power.
"""

from __future__ import annotations

import json
import os
import secrets
import uuid
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from tripline_contracts.event_type import EventType
from tripline_engine.domain.memory.file_lock import file_lock
from tripline_engine.domain.shard.engine_config import Clock, EngineConfig
from tripline_engine.errors import CheckpointExists, CheckpointInUse, CheckpointMismatch, CheckpointMoved
from tripline_engine.spark.checkpoint.spark_offsets import Ends

_FILE: Final = "tripline.json"
_LOCK: Final = "tripline.lock"
_SHARDS: Final = 1
_STATE_FORMAT: Final = 4
"""Format of state logs in Spark's state store (`state_log.STATE_FORMATS`); pins without one are of format 1."""
_UPGRADES: Final = {3: 4}
"""Formats that are upgraded in place, each with the new one."""


def spark_folder(checkpoint: Path) -> Path:
    """Folder of the streaming query's offsets, commits and state."""
    return checkpoint / "spark"


@contextmanager
def exclusive(checkpoint: Path) -> Iterator[None]:
    """Hold the checkpoint for this process. Raises CheckpointInUse if another one has it.

    There are two locks: one goes with the folder, the other, beside it, stays with its name. So nothing is made in the
    place of a folder that was moved away beneath an engine that runs.
    """
    with ExitStack() as locks:
        for lock in (checkpoint / _LOCK, *_lock_beside(checkpoint)):
            if not locks.enter_context(file_lock(lock)):
                raise CheckpointInUse(f"{checkpoint}: another engine is running on this checkpoint")
        yield


def _lock_beside(checkpoint: Path) -> list[Path]:
    """None where the checkpoint is a mount of its own, in a folder that is not ours."""
    return [checkpoint.with_name(f"{checkpoint.name}.lock")] if os.access(checkpoint.parent, os.W_OK) else []


class Held:
    """The checkpoint's folder as it was when the engine took it."""

    def __init__(self, checkpoint: Path) -> None:
        self._checkpoint, self._folder = checkpoint, _identity(checkpoint)

    def check(self) -> None:
        """Raises CheckpointMoved if another folder is there by now, or none."""
        if _identity(self._checkpoint) != self._folder:
            raise CheckpointMoved(
                f"{self._checkpoint} was moved away or replaced while the engine ran: it ends, and what it has judged"
                " since is in the recorded order. Stop an engine before its checkpoint is moved"
            )


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        status = folder.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def refuse_existing(checkpoint: Path) -> None:
    """Raises CheckpointExists where there is one already."""
    if not is_new(checkpoint):
        raise CheckpointExists(
            f"{checkpoint} has a checkpoint, and an engine goes on from it (tripline-engine run); to build another one,"
            " move it away or set TRIPLINE_CHECKPOINT to an empty folder"
        )


def open_config(checkpoint: Path, event_type: EventType, shards: int | None, clock: Clock) -> EngineConfig:
    """The configuration pinned by this checkpoint; a new one, with a random id and hash key, if the checkpoint is new.

    Without `shards` the number is the pinned one, or 1 for a new checkpoint.

    Raises CheckpointMismatch if another number of shards, other anchors or another event type is pinned, if a later
    version wrote the state in a newer format, and if the pin is lost.
    """
    if not (checkpoint / _FILE).exists():
        if spark_folder(checkpoint).exists():
            # its state was made with a hash key that only this file had
            raise CheckpointMismatch(
                f"{checkpoint} has Spark's files, but {_FILE}, which says what they were made with, is gone: bring it"
                " back from a backup, or move the folder away and build the checkpoint again (tripline-engine rebuild)"
            )
        pin(checkpoint, new_config(event_type, shards or _SHARDS, clock))
    pinned = _read(checkpoint)
    shards = shards or int(pinned["shards"])
    _compare(checkpoint, pinned, event_type, shards)
    if (upgraded := _UPGRADES.get(pinned.get("stateForm", 1))) is not None:
        # before any state is written in it: an older engine must refuse the checkpoint from now on
        _write(checkpoint / _FILE, {**pinned, "stateForm": upgraded})
    if pinned.get("parties", {}) != event_type.party_fields:
        # those that were added: from now on their sides may not change either
        _write(checkpoint / _FILE, {**_read(checkpoint), "parties": event_type.party_fields})
    first, second = (int(word, 16) for word in pinned["hashKey"])
    return EngineConfig(pinned["engine"], event_type, event_type.anchors, shards, (first, second), clock)


def is_new(checkpoint: Path) -> bool:
    """Whether the folder has no checkpoint yet."""
    return not (checkpoint / _FILE).exists() and not spark_folder(checkpoint).exists()


def new_config(
    event_type: EventType, shards: int, clock: Clock, engine_id: str | None = None
) -> EngineConfig:
    """Configuration of a new engine: a random hash key, and a random id unless one is given."""
    hash_key = secrets.randbits(64), secrets.randbits(64)
    return EngineConfig(
        engine_id or str(uuid.uuid4()), event_type, event_type.anchors, shards, hash_key, clock
    )


def pin(checkpoint: Path, config: EngineConfig, begins: Ends | None = None) -> None:
    """Pins the configuration; `begins` has the offsets at which a rebuilt engine resumes."""
    pinned: dict[str, Any] = {
        "engine": config.engine_id,
        "shards": config.shards,
        "stateForm": _STATE_FORMAT,
        "eventType": config.event_type.name,
        "eventTypeVersion": config.event_type.version,
        "anchors": list(config.event_type.anchors),
        "keptAnchors": sorted(config.event_type.kept_anchors),
        "fields": config.event_type.identity["fields"],
        "parties": config.event_type.party_fields,
        "hashKey": [f"{word:016x}" for word in config.hash_key],
    }
    _write(checkpoint / _FILE, pinned if begins is None else {**pinned, "begins": begins})


def state_format(checkpoint: Path) -> int:
    """The pinned format of state logs, a key of `state_log.STATE_FORMATS`."""
    return int(_read(checkpoint).get("stateForm", 1))


def resume_offsets(checkpoint: Path) -> Ends | None:
    """Exclusive ends at which a rebuilt checkpoint resumes; None for one that was not rebuilt."""
    begins = _read(checkpoint).get("begins") if (checkpoint / _FILE).exists() else None
    if begins is None:
        return None
    return {topic: {int(p): int(end) for p, end in ends.items()} for topic, ends in begins.items()}


def _read(checkpoint: Path) -> dict[str, Any]:
    pinned: dict[str, Any] = json.loads((checkpoint / _FILE).read_text(encoding="utf-8"))
    return pinned


def _compare(checkpoint: Path, pin: dict[str, Any], event_type: EventType, shards: int) -> None:
    state_format = pin.get("stateForm", 1)
    if state_format > _STATE_FORMAT:
        raise CheckpointMismatch(
            f"{checkpoint} was made by a later version of the engine: its state has form {state_format}, and this one"
            f" knows no more than {_STATE_FORMAT}. Run that version, or build the checkpoint again with this one"
            " (`tripline-engine rebuild` with an empty TRIPLINE_CHECKPOINT)"
        )
    if pin["shards"] != shards:
        raise CheckpointMismatch(
            f"{checkpoint} was made with {pin['shards']} shards and can't be run with {shards}: set"
            f" TRIPLINE_SHARDS={pin['shards']}, or build it again with {shards} from the recorded order:"
            " `tripline-engine rebuild` with an empty TRIPLINE_CHECKPOINT"
        )
    pinned = (pin["eventType"], pin["eventTypeVersion"], tuple(pin["anchors"]))
    # checkpoints from before fields were pinned have none
    fields = pin.get("fields", event_type.identity["fields"])
    same_fields = fields == event_type.identity["fields"]
    kept = pin.get("keptAnchors", [])
    if kept != sorted(event_type.kept_anchors):
        raise CheckpointMismatch(
            f"{checkpoint} was made with {_kept(kept)}, and can't be run with {_kept(event_type.kept_anchors)}: no"
            " order would say when their history began. Set keptAnchors in the event type as it was, or start"
            " with an empty TRIPLINE_CHECKPOINT"
        )
    if pinned != (event_type.name, event_type.version, event_type.anchors) or not same_fields:
        raise CheckpointMismatch(
            f"{checkpoint} was made for event type {pinned[0]} version {pinned[1]} with anchors"
            f" {', '.join(pinned[2])}{'' if same_fields else ' and other fields'}, and can't be run for"
            f" {event_type.name} version {event_type.version}: set TRIPLINE_EVENT_TYPE as it was, or start with an"
            " empty TRIPLINE_CHECKPOINT"
        )
    # a party that was not there is an anchor that nothing is kept of: one may be added, and none changed
    changed = {
        name for name, sides in pin.get("parties", {}).items() if event_type.party_fields.get(name) != sides
    }
    if changed:
        raise CheckpointMismatch(
            f"{checkpoint} was made with other sides of {', '.join(sorted(changed))}: set the event type's parties as"
            " they were, or start with an empty TRIPLINE_CHECKPOINT"
        )


def _kept(anchors: Collection[str]) -> str:
    return f"the kept anchors {', '.join(sorted(anchors))}" if anchors else "no kept anchors"


def _write(path: Path, pin: dict[str, Any]) -> None:
    """Atomic and fsynced."""
    new = path.with_suffix(".new")
    with new.open("w", encoding="utf-8") as file:
        json.dump(pin, file, indent=2)
        file.flush()
        os.fsync(file.fileno())
    new.rename(path)
