"""A shard's arrays: a cache of its state log, verified before every use.

The arrays name the sequence and nonce of the micro-batch that they include. If the log's head names the same,
they are its projection; anything else (another attempt's leftovers, a half-finished write, files from before a
reboot) is thrown away and rebuilt from the log.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.judging.anchor import Anchor, AnchorSchema
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.mapped_arena import MappedArena
from tripline_engine.domain.memory.parallel import run_parallel
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.window_plan import WindowPlan
from tripline_engine.domain.shard.anchor_rebuild import rebuild_anchor, rebuild_work
from tripline_engine.domain.shard.anchor_state import AnchorState
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.shard_state import ShardState
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING, ShardTuning
from tripline_engine.domain.state_log.head import Head, read_book
from tripline_engine.domain.state_log.state_log import StateLog
from tripline_engine.domain.transactions.entries import rows_type
from tripline_engine.domain.transactions.hash_key import HashKey

# Items of the header; the first one belongs to the arena.
_SEQUENCE, _NONCE, _BOOT, _DIRTY, _LAYOUT = 1, 2, 3, 4, 5
# The layout of the arrays; files of another one, from before an upgrade, are rebuilt.
_THIS_LAYOUT = 15
# A micro-batch with more transactions than this comes from a backlog.
_LARGE_BATCH = 1 << 12


class Projection:
    """The rule book and the arrays of one shard.

    :ivar book: the rule book of the last attached head
    """

    def __init__(
        self, config: EngineConfig, directory: Path | None, tuning: ShardTuning = DEFAULT_TUNING
    ) -> None:
        self._config, self._directory, self._tuning = config, directory, tuning
        self._mapped = MappedArena(directory) if directory else None
        self._header: npt.NDArray[np.int64] = self._mapped.header if self._mapped else np.zeros(8, np.int64)
        self._arena: Arena = self._mapped or tuning.heap_arena()
        self._book_nonce: int | None = None
        self._key = HashKey(*config.hash_key)
        self.book = RuleBook(config.event_type)
        self.anchors: dict[str, Anchor] = {}

    def attach(self, head: Head, log: StateLog) -> bool:
        """Make this the projection of the log's head.

        :returns: whether it had to be rebuilt
        """
        if not self._is_of(head):
            self._rebuild(head, log)
            return True
        if self._book_nonce != head.book_nonce:
            self._read_book(head, log)
            self.anchors = {}
        if self._mapped and self._mapped.stale:
            self._arena = self._mapped = MappedArena(self._directory or Path(), self._mapped)
            self._header = self._mapped.header
            self.anchors = {}
        if not self.anchors:
            self._open({name: WindowPlan.of(self.book, name) for name in self._config.event_type.all_anchors})
            if self._mapped:
                self._mapped.release_previous()
        return False

    def state(self, head: Head) -> ShardState:
        """The shard's state under the head that this has been attached to."""
        time_field = self._config.event_type.time_field.name
        anchors = {
            name: AnchorState(arrays, head.anchors[name], head.watermarks, time_field)
            for name, arrays in self.anchors.items()
        }
        return ShardState(self.book, head.watermarks, anchors)

    def begin(self) -> None:
        """Mark the arrays as dirty: they are about to change."""
        self._header[_DIRTY] = 1

    def expect(self, rows: int) -> None:
        """Prepare the arrays for that number of transactions."""
        if self._mapped:
            self._mapped.read_ahead(on=rows > _LARGE_BATCH)

    def finish(self, head: Head) -> None:
        """Mark the arrays as the head's."""
        self._book_nonce = head.book_nonce
        self._header[_SEQUENCE], self._header[_NONCE], self._header[_BOOT] = (
            head.sequence,
            head.nonce,
            _boot(),
        )
        self._header[_DIRTY], self._header[_LAYOUT] = 0, _THIS_LAYOUT

    def shrink(self, head: Head, log: StateLog) -> bool:
        """Rebuild the arrays, as large as they have to be, if they are far larger; whether they were.

        Where the log has no rows they stay as they are.
        """
        oversized = self._tuning.segments.is_written and any(
            anchor.retention.oversized for anchor in self.anchors.values()
        )
        if oversized:
            self._rebuild(head, log)
        return oversized

    @property
    def rows(self) -> int:
        """Retained transactions, over all anchors."""
        return sum(anchor.history.end - anchor.history.base for anchor in self.anchors.values())

    @property
    def bytes(self) -> int:
        """Size of the arrays, without what has no memory."""
        unbacked = sum(anchor.retention.unbacked_bytes for anchor in self.anchors.values())
        return self._arena.bytes() - unbacked

    def _is_of(self, head: Head) -> bool:
        header = self._header
        named = (int(header[_SEQUENCE]), int(header[_NONCE])) == (head.sequence, head.nonce)
        whole = header[_DIRTY] == 0 and header[_LAYOUT] == _THIS_LAYOUT
        return named and whole and head.sequence > 0 and header[_BOOT] == _boot()

    def _rebuild(self, head: Head, log: StateLog) -> None:
        self.begin()
        if self._mapped:
            self._mapped.wipe()
            self._mapped.read_ahead(on=True)
        else:
            self._arena = self._tuning.heap_arena()
        event_type = self._config.event_type
        self._read_book(head, log)
        self._open(dict.fromkeys(event_type.all_anchors, WindowPlan.empty()))
        plans = {name: WindowPlan.of(self.book, name) for name in event_type.all_anchors}
        # the anchor that takes longest begins first
        states = sorted(
            self.state(head).anchors.values(),
            key=lambda state: rebuild_work(state, plans[state.name]),
            reverse=True,
        )
        work = [
            partial(
                rebuild_anchor,
                state,
                plans[state.name],
                head.watermarks,
                rows_type(event_type, state.name),
            )
            for state in states
        ]
        rows = sum(state.log.rows for state in states)
        run_parallel(work, rows, parallel_rows=self._tuning.anchor.parallel_rows)
        self.finish(head)

    def _read_book(self, head: Head, log: StateLog) -> None:
        self.book = read_book(log, self._config.event_type, self._key, self.book.named)
        self._book_nonce = head.book_nonce

    def _open(self, plans: dict[str, WindowPlan]) -> None:
        """Attach to the arrays of all anchors, which hold the windows of these plans."""
        event_type, key = self._config.event_type, self._key
        self.anchors = {
            name: self._tuning.anchor_type(
                self._arena,
                AnchorSchema(name, rows_type(event_type, name), key),
                self.book.named,
                plan,
                self._tuning.anchor,
            )
            for name, plan in plans.items()
        }


def _boot() -> int:
    """A number for this run of the machine: mapped files from before a crash of it prove nothing."""
    try:
        return crc32(Path("/proc/sys/kernel/random/boot_id").read_bytes())
    except OSError:
        return 0
