"""Keeps the note of needed anchors in step with what shards say that rules need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import structlog

from tripline_engine.spark.checkpoint.anchor_note import AnchorNote, rules_end, write_note

_log = structlog.get_logger(__name__)


class AnchorWatch:
    """Writes the note anew when rule events, or the end of a need, have changed it."""

    def __init__(self, checkpoint: Path, rules_topic: str, anchors: Sequence[str]) -> None:
        self._checkpoint, self._rules_topic, self._anchors = checkpoint, rules_topic, anchors
        self._written: AnchorNote | None = None

    def batch_done(self, progress: Mapping[str, Any], shards: Sequence[Mapping[str, int]]) -> None:
        """A committed micro-batch: Spark's progress, and the counters of the shards that took part."""
        end = rules_end(progress, self._rules_topic)
        if end is None or not shards:
            return
        needed = [
            anchor
            for index, anchor in enumerate(self._anchors)
            if any(counters.get("needed_anchors", 0) >> index & 1 for counters in shards)
        ]
        note = AnchorNote(end, frozenset(needed))
        if note == self._written:
            return
        if self._written is None or note.needed != self._written.needed:
            _log.info("anchors_needed", anchors=needed)
        try:
            write_note(self._checkpoint, note)
            self._written = note
        except OSError as error:
            # transactions go to all anchors meanwhile
            _log.warning("anchor_note_not_written", reason=str(error))
