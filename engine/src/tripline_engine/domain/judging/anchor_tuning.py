"""Tuning of an anchor: the pieces in which its history is kept, folded and built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tripline_engine.domain.buckets.bucket_window import FEW_BUCKETS
from tripline_engine.domain.groups.large_groups import SMALL_GROUP_ROWS
from tripline_engine.domain.history import history
from tripline_engine.domain.memory.parallel import PARALLEL_ROWS


@dataclass(frozen=True, slots=True)
class AnchorTuning:
    """Numbers that change no result.

    :ivar small_group_rows: a group with at most so many transactions has no window states
    :ivar few_buckets: a group with at most so many buckets has no running states
    :ivar folded_rows: rows that are folded into a bucket set, before they are dropped, at a time
    :ivar parallel_rows: rows from which windows are built on several threads
    """

    history: history.HistoryTuning = history.DEFAULT_TUNING
    small_group_rows: int = SMALL_GROUP_ROWS
    few_buckets: int = FEW_BUCKETS
    folded_rows: int = 1 << 16
    parallel_rows: int = PARALLEL_ROWS


DEFAULT_TUNING: Final = AnchorTuning()
