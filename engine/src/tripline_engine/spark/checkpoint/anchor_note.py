"""The driver's note beside the checkpoint: which anchors rules need, as far as rules.v1 has been read.

A task that packs transactions sees no rule events. But Spark has written down where its micro-batch ends before the
task starts: if the note was made of a micro-batch that ended at the same place in rules.v1, no event has come between,
and what rules need has not grown. In any other case transactions go to all anchors, and shards leave out what they do
not need: the note saves work and decides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tripline_engine.spark.checkpoint.checkpoint import spark_folder
from tripline_engine.spark.checkpoint.spark_offsets import planned_ends

_FILE: Final = "anchors.json"
_BATCH_PROPERTY: Final = "streaming.sql.batchId"
"""Spark's name for the number of the micro-batch that a task is part of."""


@dataclass(frozen=True, slots=True)
class AnchorNote:
    """The anchors needed after a micro-batch that ended at an offset of rules.v1 (exclusive)."""

    rules_end: int
    needed: frozenset[str]


def write_note(checkpoint: Path, note: AnchorNote) -> None:
    """Atomic; not synced: a note that is lost or old costs work only."""
    path = checkpoint / _FILE
    new = path.with_suffix(".new")
    new.write_text(json.dumps({"rulesEnd": note.rules_end, "needed": sorted(note.needed)}), encoding="utf-8")
    new.rename(path)


def remove_note(checkpoint: Path) -> None:
    """Before an engine starts: what it goes on from may be older than the note, as after a restore from a backup."""
    (checkpoint / _FILE).unlink(missing_ok=True)


def read_note(checkpoint: Path) -> AnchorNote | None:
    """The note; None if there is none that can be read."""
    try:
        stored = json.loads((checkpoint / _FILE).read_text(encoding="utf-8"))
        needed = stored["needed"]
        return AnchorNote(int(stored["rulesEnd"]), frozenset(needed)) if isinstance(needed, list) else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def wanted_anchors(checkpoint: Path, rules_topic: str, batch: str | None) -> Collection[str] | None:
    """The anchors that transactions of a micro-batch go to; None for all."""
    note = read_note(checkpoint)
    if note is None or batch is None:
        return None
    try:
        ends = planned_ends(spark_folder(checkpoint), int(batch))
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    return note.needed if ends.get(rules_topic) == {0: note.rules_end} else None


def batch_of_task() -> str | None:
    """The number of the micro-batch that the calling task is part of; None outside of tasks."""
    from pyspark import TaskContext  # noqa: PLC0415  # in workers only

    context = TaskContext.get()
    return context.getLocalProperty(_BATCH_PROPERTY) if context else None


def rules_end(progress: Mapping[str, Any], rules_topic: str) -> int | None:
    """The offset of rules.v1 at which a micro-batch ended, from Spark's progress; None if it does not say."""
    for source in progress.get("sources", ()):
        ends = source.get("endOffset")
        if isinstance(ends, dict) and isinstance(partitions := ends.get(rules_topic), dict):
            return partitions.get("0")
    return None
