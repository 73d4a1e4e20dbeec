"""Tuning of an anchor: the pieces in which its history is kept, folded and built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tripline_engine.domain.buckets.bucket_window import FEW_BUCKETS
from tripline_engine.domain.groups.large_groups import SMALL_GROUP_ROWS
from tripline_engine.domain.history import history
from tripline_engine.domain.judging.verdict import MAX_CONTRIBUTORS
from tripline_engine.domain.memory.parallel import PARALLEL_ROWS


@dataclass(frozen=True, slots=True)
class Telling:
    """How much is told of what is judged; the judgement is the same.

    :ivar contributors: listed in an alert at most; the conditions of a chained rule share them
    :ivar whole: ids of transactions whose alerts list `MAX_WHOLE` for each condition
    :ivar every_trace: tell every evaluation of every rule, whether it is traced or not
    :ivar counted: ids of rules whose alerts are counted alone: `Occasion`s tell them, and those of history list no
        contributors
    """

    contributors: int = MAX_CONTRIBUTORS
    whole: frozenset[str] = frozenset()
    every_trace: bool = False
    counted: frozenset[int] = frozenset()


MAX_WHOLE: Final = 100_000
"""Contributors that are listed where all are asked for: some megabytes."""

DEFAULT_TELLING: Final = Telling()


@dataclass(frozen=True, slots=True)
class AnchorTuning:
    """Numbers that change no judgement.

    :ivar small_group_rows: a group with at most so many transactions has no window states
    :ivar few_buckets: a group with at most so many buckets has no running states
    :ivar folded_rows: rows that are folded into a bucket set, before they are dropped, at a time
    :ivar parallel_rows: rows from which windows are built on several threads
    :ivar shared_rows: rows from which rules that differ by their limits alone are held against the loosest one first
    :ivar telling: a proof is told more than an engine tells
    :ivar ids_are_distinct: no two transactions that come have an id in common, so none is remembered
    :ivar in_order: transactions come in the order of their event times, so sums slide over them
    """

    history: history.HistoryTuning = history.DEFAULT_TUNING
    small_group_rows: int = SMALL_GROUP_ROWS
    few_buckets: int = FEW_BUCKETS
    folded_rows: int = 1 << 16
    parallel_rows: int = PARALLEL_ROWS
    shared_rows: int = 1 << 12
    telling: Telling = DEFAULT_TELLING
    ids_are_distinct: bool = False
    in_order: bool = False


DEFAULT_TUNING: Final = AnchorTuning()
