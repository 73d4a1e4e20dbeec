"""Retention in small pieces, so that short histories go through all of it; released memory reads as zeros at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tripline_engine.domain.history.history import HistoryTuning
from tripline_engine.domain.judging.anchor_tuning import AnchorTuning
from tripline_engine.domain.memory.arena import HeapArena
from tripline_engine.domain.shard.shard_tuning import ShardTuning
from tripline_engine.domain.state_log.segment_log import SegmentTuning


class EmptyingHeap(HeapArena):
    """Releases items at once, as if a page had one: whoever still reads there reads 0."""

    def punch_hole(self, name: str, first: int, until: int) -> bool:
        self._arrays[name][first:until] = 0
        return True


EAGER: Final = ShardTuning(
    anchor=AnchorTuning(
        history=HistoryTuning(scanned_rows=16, released_rows=1, released_bytes=1),
        folded_rows=16,
        shared_rows=0,
    ),
    segments=SegmentTuning(fan_in=2, moved_rows=32, entry_rows=20),
    heap_arena=EmptyingHeap,
)


def compacting_from(rows: int) -> ShardTuning:
    """Eager retention that also compacts histories once so many rows are numbered."""
    history = replace(EAGER.anchor.history, numbered_rows=rows)
    return replace(EAGER, anchor=replace(EAGER.anchor, history=history))
