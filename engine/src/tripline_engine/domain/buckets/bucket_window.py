"""Windows of whole buckets for every group of a population (`precision: bucketed`): memory by group and bucket.

Unlike all else that is built on the history, buckets outlive its rows: their content from rows that have expired is
kept in the state log (`bucket_log`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tripline_engine.domain.buckets import bucket_kernels
from tripline_engine.domain.buckets.bucket_layout import (
    ABOVE_ALL,
    BEGUN,
    BUCKET,
    END,
    EXPIRED,
    LIST,
    META,
    NODE,
    OUT,
    SLOT,
    STATES_END,
    USED,
    BucketSource,
    Pool,
    Visible,
)
from tripline_engine.domain.buckets.running_states import STATE
from tripline_engine.domain.groups.group_lists import GroupLists, unhidden
from tripline_engine.domain.history.voided import Voided
from tripline_engine.domain.memory.arena import Arena, HeapArena
from tripline_engine.domain.memory.array_types import BoolArray, Int32Array, Int64Array, Uint64Array
from tripline_engine.domain.memory.slot_table import SlotTable
from tripline_engine.domain.rules.watermarks import BucketSpan
from tripline_engine.domain.rules.window_plan import BucketDemand
from tripline_engine.domain.transactions.columns import MIN_TIME, Amounts

_FIRST_CAPACITY: Final = 256
_NO_FLOOR: Final = -ABOVE_ALL
_STEP: Final = 4096
FEW_BUCKETS: Final = 4
"""A group with more buckets has running states: one would be a third of the memory of a group with one bucket."""


@dataclass(frozen=True, slots=True)
class Buckets:
    """n buckets.

    :ivar low: with ``high`` the identity of the group
    :ivar nodes: n × NODE, see `bucket_layout`
    """

    low: Uint64Array
    high: Uint64Array
    nodes: Int64Array

    def __len__(self) -> int:
        return len(self.low)

    def from_bucket(self, number: int) -> Buckets:
        """Those that are not before that number."""
        keep = self.nodes[:, BUCKET] >= number
        return Buckets(self.low[keep], self.high[keep], self.nodes[keep])


class BucketPool:
    """The buckets of a population's groups; one with more than ``few`` has running states."""

    def __init__(
        self, arena: Arena, name: str, length_ms: int, layout: BucketDemand, few: int = FEW_BUCKETS
    ) -> None:
        self._arena, self._name, self.length, self.layout, self._few = arena, name, length_ms, layout, few
        self.groups = SlotTable(arena, f"{name}.groups")
        self._nodes = arena.open(f"{name}.nodes", np.int64, _FIRST_CAPACITY * NODE)
        self._lists = arena.open(f"{name}.lists", np.int32, _FIRST_CAPACITY * LIST)
        self._states = arena.open(f"{name}.states", np.int64, _FIRST_CAPACITY * self._width)
        self._meta = arena.open(f"{name}.meta", np.int64, META, MIN_TIME)
        if self._meta[END] == MIN_TIME:
            self._meta[:] = (0, -1, 0, MIN_TIME, _NO_FLOOR, 0, -1)

    @property
    def used(self) -> int:
        """Number of buckets."""
        return int(self._meta[USED])

    @property
    def capacity(self) -> int:
        """Number of buckets that there is room for."""
        return len(self._nodes) // NODE

    @property
    def begun(self) -> int:
        """The position in rules.v1 at which the bucket set began."""
        return int(self._meta[BEGUN])

    @property
    def pool(self) -> Pool:
        """For kernels."""
        windows, seeks = self.layout
        return Pool(
            self._nodes.reshape(-1, NODE),
            self._lists.reshape(-1, LIST),
            self._states.reshape(self._numbers, len(windows), STATE),
            self._meta,
            np.array(windows, np.int64),
            self.length,
            self._few,
            seeks,
            np.zeros((2, NODE), np.int64),
        )

    def empty(self, begun: int) -> None:
        """Hold nothing, as the set that began at that position in rules.v1."""
        self.expire(ABOVE_ALL)
        self._meta[BEGUN], self._meta[EXPIRED] = begun, _NO_FLOOR

    def relayout(self, layout: BucketDemand) -> None:
        """Read other windows from the same buckets."""
        numbers = self._numbers
        self.layout = layout
        self._arena.remove(f"{self._name}.states")
        self._states = self._arena.open(f"{self._name}.states", np.int64, numbers * self._width)
        bucket_kernels.rebuild_states(self.groups.end, self.pool)

    def put(self, buckets: Buckets) -> None:
        """Merge buckets into those that are there."""
        for step in _steps(len(buckets)):
            low, high = buckets.low[step], buckets.high[step]
            slots, made = self.intern(low, high, np.ones(len(low), np.bool_)), np.empty(len(low), np.bool_)
            bucket_kernels.put_nodes(slots, buckets.nodes[step], self.pool, made)
            self.groups.release(slots[~made])

    def intern(self, low: Uint64Array, high: Uint64Array, present: BoolArray) -> Int32Array:
        """The groups' slots (-1 where not present), each held once more, with room for a bucket for each.

        Called for a step's rows at a time: otherwise there would be room for as many buckets as there are rows.
        """
        slots = self.groups.intern(low, high, present)
        if self.groups.capacity > len(self._lists) // LIST:
            self._lists = self._arena.resize(f"{self._name}.lists", self.groups.capacity * LIST)
        # each row may be the one with which its group has more than a few buckets
        numbers = int(self._meta[STATES_END]) + len(low)
        if self.layout.windows and numbers > self._numbers:
            needed = self._width << numbers.bit_length()
            self._states = self._arena.resize(f"{self._name}.states", needed)
        nodes = int(self._meta[USED]) + len(low)
        if nodes > self.capacity:
            self._nodes = self._arena.resize(f"{self._name}.nodes", NODE << nodes.bit_length())
        return slots

    def expire(self, floor: int) -> None:
        """Expire the buckets before that one."""
        if floor <= self._meta[EXPIRED]:
            return
        expired = np.empty(self.used, np.int32)
        count = bucket_kernels.expire(floor, self.groups.end, self.pool, expired)
        self.groups.release(expired[:count])
        self._meta[EXPIRED] = floor

    def all(self) -> Buckets:
        """All buckets."""
        nodes = self._nodes.reshape(-1, NODE)[: int(self._meta[END])]
        chosen = nodes[nodes[:, SLOT] >= 0]
        slots = chosen[:, SLOT]
        return Buckets(self.groups.key_low[slots], self.groups.key_high[slots], chosen)

    def remove(self) -> None:
        """Remove everything, arrays and all."""
        self.groups.remove()
        for part in ("nodes", "lists", "states", "meta"):
            self._arena.remove(f"{self._name}.{part}")

    @property
    def _numbers(self) -> int:
        """Number of groups whose states there is room for."""
        return len(self._states) // self._width if self._width else 0

    @property
    def _width(self) -> int:
        return len(self.layout.windows) * STATE


class BucketWindow:
    """The buckets of a population's members, by its groups, over several window lengths.

    To be built before it is used, unless its arrays were found as another process left them.
    """

    def __init__(
        self,
        arena: Arena,
        name: str,
        links: GroupLists,
        members: GroupLists,
        length_ms: int,
        layout: BucketDemand,
        *,
        few: int = FEW_BUCKETS,
    ) -> None:
        self.buckets = BucketPool(arena, name, length_ms, layout, few)
        self._links, self._others = links, members

    def enter(
        self, span: BucketSpan, first: int, end: int, amounts: Amounts, voided: Sequence[Voided]
    ) -> None:
        """Enter linked rows without asking for their windows, and void ones that had been merged when they became so.

        :param voided: of all rows
        """
        groups, members = self._links.slots[first:end], self._others.slots[first:end] >= 0
        since = [void for void in voided if span.begun < void.position]
        rows = [(void, void.sequence - self._links.offset - first) for void in since]
        merged = [i for void, i in rows if 0 <= i < end - first and self._was_merged(void, first + i)]
        if merged:
            groups, members = groups.copy(), members.copy()
            members[merged] = unhidden(self._others.slots[first:end][merged]) >= 0
            groups[merged] = unhidden(groups[merged])
        time = self._links.order.time
        for step in _steps(end - first):
            slots, chosen = self._intern(groups[step]), members[step]
            made, start = np.empty(len(slots), np.bool_), first + step.start
            bucket_kernels.put_rows(
                start, slots, time, chosen, amounts, span.visible_from, self.buckets.pool, made
            )
            self.buckets.groups.release(slots[~made])

    def evaluate(
        self, start: int, newest: Int64Array, span: BucketSpan, base: int, amounts: Amounts
    ) -> Int64Array:
        """Enter n linked rows from number ``start`` on, in their order.

        :param newest: from `GroupLists.link`
        :returns: int64, n × windows × OUT (see `bucket_readings`): each one's own windows
        """
        n = len(newest)
        out = np.zeros((n, len(self.buckets.layout.windows), OUT), np.int64)
        visible = Visible(span.begin, self.floor_bucket(span), base)
        source = BucketSource(self._links.order, self._others.slots, amounts)
        for step in _steps(n):
            first = start + step.start
            slots = self._intern(self._links.slots[first : start + step.stop])
            made = np.empty(len(slots), np.bool_)
            pool = self.buckets.pool
            bucket_kernels.evaluate(first, slots, newest[step], visible, source, pool, made, out[step])
            self.buckets.groups.release(slots[~made])
        return out

    def floor_bucket(self, span: BucketSpan) -> int:
        """The first visible bucket."""
        return _NO_FLOOR if span.floor == MIN_TIME else span.floor // self.buckets.length

    def detached(
        self, span: BucketSpan, first: int, end: int, amounts: Amounts, voided: Sequence[Voided]
    ) -> Buckets:
        """The buckets of these linked rows alone, in memory of their own."""
        other = BucketWindow(
            HeapArena(),
            "detached",
            self._links,
            self._others,
            self.buckets.length,
            BucketDemand((), seeks=False),
        )
        other.enter(span, first, end, amounts, voided)
        return other.buckets.all()

    def _was_merged(self, voided: Voided, row: int) -> bool:
        """Whether it was in a bucket already when it became void."""
        return int(self._links.order.time[row]) + self.buckets.length <= voided.lateness_floor

    def _intern(self, groups: Int32Array) -> Int32Array:
        """The groups' slots here, held once more each, by their slots in the lists (negative: no group)."""
        table, present = self._links.table, groups >= 0
        # those of voided rows lie beyond the table
        listed = np.where(present, groups, 0)
        return self.buckets.intern(table.key_low[listed], table.key_high[listed], present)


def _steps(rows: int) -> Iterator[slice]:
    """Rows in pieces, each of which needs room for its new buckets only."""
    for start in range(0, rows, _STEP):
        yield slice(start, min(start + _STEP, rows))
