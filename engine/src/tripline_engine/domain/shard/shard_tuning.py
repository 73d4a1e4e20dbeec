"""Tuning of a shard: the pieces of its work, and the arena of a process that maps no files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from tripline_engine.domain.judging import anchor_tuning
from tripline_engine.domain.judging.anchor import Anchor
from tripline_engine.domain.memory.arena import Arena, HeapArena
from tripline_engine.domain.state_log import segment_log


@dataclass(frozen=True, slots=True)
class ShardTuning:
    """Numbers and parts that change no result; production uses the defaults.

    :ivar heap_arena: makes the arena of a projection without a directory
    :ivar anchor_type: the class of an anchor's arrays; a benchmark has one that is timed
    """

    anchor: anchor_tuning.AnchorTuning = anchor_tuning.DEFAULT_TUNING
    segments: segment_log.SegmentTuning = segment_log.DEFAULT_TUNING
    heap_arena: Callable[[], Arena] = HeapArena
    anchor_type: type[Anchor] = Anchor


DEFAULT_TUNING: Final = ShardTuning()
_SCANNED_IN_ONE_PASS: Final = 1 << 20


def that_tells(telling: anchor_tuning.Telling) -> ShardTuning:
    """The default's, but for what is told of what is judged."""
    return replace(DEFAULT_TUNING, anchor=replace(DEFAULT_TUNING.anchor, telling=telling))


def in_one_pass(tuning: ShardTuning, *, ids_are_distinct: bool) -> ShardTuning:
    """Of a shard in memory that takes all rule events before all transactions, and these in the order of event times.

    No row is ever read back from its log.

    Its micro-batches may be large, and with each of them as much is pruned.

    :param ids_are_distinct: no two of the transactions have an id in common
    """
    history = replace(tuning.anchor.history, scanned_rows=_SCANNED_IN_ONE_PASS)
    return replace(
        tuning,
        anchor=replace(tuning.anchor, history=history, ids_are_distinct=ids_are_distinct, in_order=True),
        segments=replace(tuning.segments, is_written=False),
    )
