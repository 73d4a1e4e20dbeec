"""A shard's state in memory: a projection of its state log, verified before every use.

The arrays name the sequence and nonce of the micro-batch that they include. If the log's head names the same,
they are its projection; anything else (another attempt's leftovers, a half-finished write, files from before a
reboot) is thrown away and built again from the segments.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.judging.anchor import Anchor
from tripline_engine.domain.judging.window_set import PersistedBuckets
from tripline_engine.domain.memory.arena import Arena
from tripline_engine.domain.memory.mapped_arena import MappedArena
from tripline_engine.domain.memory.parallel import run_parallel
from tripline_engine.domain.rules.measures import BucketKey
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.window_plan import WindowPlan
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING, ShardTuning
from tripline_engine.domain.state_log.bucket_log import BucketLog
from tripline_engine.domain.state_log.head import Head, read_book
from tripline_engine.domain.state_log.segment_log import SegmentLog
from tripline_engine.domain.state_log.state_log import StateLog
from tripline_engine.domain.transactions.columns import TransactionBatch
from tripline_engine.domain.transactions.hash_key import HashKey

# What the header holds; its first item belongs to the arena.
_SEQUENCE, _NONCE, _BOOT, _DIRTY, _LAYOUT = 1, 2, 3, 4, 5
# How the arrays are laid out; files of another layout, from before an upgrade, are built again.
_THIS_LAYOUT = 14
# More transactions than this come only where there is a backlog.
_MANY = 1 << 12
# To read transactions back is as much work as to build so many lists and windows over them.
_READ = 6


class Projection:
    """The rule book and the anchors of one shard."""

    def __init__(
        self, config: EngineConfig, directory: Path | None, tuning: ShardTuning = DEFAULT_TUNING
    ) -> None:
        self._config, self._directory, self._tuning = config, directory, tuning
        self._mapped = MappedArena(directory) if directory else None
        self._header: npt.NDArray[np.int64] = self._mapped.header if self._mapped else np.zeros(8, np.int64)
        self._arena: Arena = self._mapped or tuning.heap_arena()
        self._book_nonce: int | None = None
        self.book = RuleBook(config.event_type)
        self.anchors: dict[str, Anchor] = {}

    def attach(self, head: Head, log: StateLog) -> bool:
        """Make this the projection of the log's head.

        :returns: whether it had to be built again
        """
        if not self._is_of(head):
            self._rebuild(head, log)
            return True
        if self._book_nonce != head.book_nonce:
            self.book, self._book_nonce = read_book(log, self._config.event_type), head.book_nonce
            self.anchors = {}
        if self._mapped and self._mapped.stale:
            self._arena = self._mapped = MappedArena(self._directory or Path(), self._mapped)
            self._header = self._mapped.header
            self.anchors = {}
        if not self.anchors:
            self.anchors = {name: self._anchor(name, WindowPlan.of(self.book, name)) for name in self._names}
            if self._mapped:
                self._mapped.release_previous()
        return False

    def begin(self) -> None:
        """Say that the arrays are about to change."""
        self._header[_DIRTY] = 1

    def expect(self, rows: int) -> None:
        """Say that so many transactions are going to be taken."""
        if self._mapped:
            self._mapped.read_ahead(on=rows > _MANY)

    def finish(self, head: Head) -> None:
        """Say that the arrays include what the head names."""
        self._book_nonce = head.book_nonce
        self._header[_SEQUENCE], self._header[_NONCE], self._header[_BOOT] = (
            head.sequence,
            head.nonce,
            _boot(),
        )
        self._header[_DIRTY], self._header[_LAYOUT] = 0, _THIS_LAYOUT

    def restructure(self, head: Head, log: StateLog) -> None:
        """Maintain what the book needs now."""
        for name in self.anchors:
            self._restructure(name, head, log)

    def shrink(self, head: Head, log: StateLog) -> bool:
        """Build the arrays again, as large as they have to be, if they are far larger; whether they were."""
        oversized = any(anchor.oversized for anchor in self.anchors.values())
        if oversized:
            self._rebuild(head, log)
        return oversized

    @property
    def rows(self) -> int:
        """Retained transactions, over all anchors."""
        return sum(anchor.history.end - anchor.history.base for anchor in self.anchors.values())

    @property
    def bytes(self) -> int:
        """Size of the arrays, but for what there is no memory for."""
        return self._arena.bytes() - sum(anchor.unbacked_bytes for anchor in self.anchors.values())

    @property
    def _names(self) -> tuple[str, ...]:
        return self._config.event_type.anchors

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
        self.book, self._book_nonce = read_book(log, self._config.event_type), head.book_nonce
        self.anchors = {name: self._anchor(name, WindowPlan.empty()) for name in self._names}
        # what takes longest begins first
        names = sorted(self.anchors, key=partial(self._to_build, head), reverse=True)
        shared = _OneAtATime(log)
        work = [partial(self._rebuild_anchor, name, head, shared) for name in names]
        rows = sum(map(_rows, head.segments.values()))
        run_parallel(work, rows, parallel_rows=self._tuning.anchor.parallel_rows)
        self.finish(head)

    def _to_build(self, head: Head, name: str) -> int:
        """How much is to be built of an anchor, roughly: its transactions, by how often each is looked at."""
        structure = WindowPlan.of(self.book, name)
        parts = structure.populations, structure.totals, structure.chains, structure.distincts
        return _rows(head.segments[name]) * (_READ + sum(map(len, parts)))

    def _rebuild_anchor(self, name: str, head: Head, log: StateLog) -> None:
        anchor, segments, visibility = self.anchors[name], head.segments[name], head.visibility
        floor = visibility.floor(name, [self._config.event_type.time_field.name])
        sequence, folded = segments.first, head.buckets[name].folded
        with ThreadPoolExecutor(1) as beside:
            remembered = []
            for rows, cleared in segments.read(log):
                needed = len(rows) if folded is None else max(folded - sequence, 0)
                sequence += len(rows)
                # what comes behind the first row that is not gone stays as well
                following = segments.accepted - sequence
                remembered.append(beside.submit(anchor.remember, rows, visibility.id_floor, following))
                for part, gone in self._retained(anchor, rows, floor, needed):
                    if not (cleared or gone):
                        anchor.load(part, following)
            for done in remembered:
                done.result()
        anchor.remembered(visibility.id_floor)
        anchor.history.offset = segments.accepted - anchor.history.end
        anchor.void_again(segments.voided)
        until = unfolded(anchor, head.buckets[name], anchor.expired(visibility))
        anchor.clean_up(visibility, until)
        self._restructure(name, head, log)

    def _restructure(self, name: str, head: Head, log: StateLog) -> None:
        firing, kept = partial(head.firing[name].read, log), partial(_kept, head, log, name)
        self.anchors[name].restructure(WindowPlan.of(self.book, name), head.visibility, firing, kept)

    def _retained(
        self, anchor: Anchor, rows: TransactionBatch, floor: int, needed: int
    ) -> Iterator[tuple[TransactionBatch, bool]]:
        """The rows in runs, each with whether it is out of every window: what comes before all that is not.

        :param needed: the place of the first row that bucket sets still have to read
        """
        live = rows.time >= floor
        first = 0 if anchor.history.end or live.all() else int(live.argmax()) if live.any() else len(rows)
        gone = np.arange(len(rows)) < min(first, needed)
        for part, out in ((gone, True), (~gone, False)):
            if part.any():
                yield rows.take(part, self._config.event_type), out

    def _anchor(self, name: str, structure: WindowPlan) -> Anchor:
        config = self._config
        key, named = HashKey(*config.hash_key), self.book.named
        return Anchor(self._arena, name, config.event_type, key, named, structure, self._tuning.anchor)


class _OneAtATime:
    """A state log that several threads may read."""

    def __init__(self, log: StateLog) -> None:
        self._log, self._lock = log, threading.Lock()

    def get(self, key: str) -> bytes | None:
        with self._lock:
            return self._log.get(key)

    def get_all(self, keys: Sequence[str]) -> list[bytes | None]:
        with self._lock:
            return self._log.get_all(keys)

    def put(self, key: str, data: bytes) -> None:
        with self._lock:
            self._log.put(key, data)

    def remove(self, key: str) -> None:
        with self._lock:
            self._log.remove(key)

    def remove_all(self, keys: Sequence[str]) -> None:
        with self._lock:
            self._log.remove_all(keys)


def _rows(segments: SegmentLog) -> int:
    """How many transactions the log has of an anchor."""
    return segments.accepted - segments.first


def unfolded(anchor: Anchor, buckets: BucketLog, until: int) -> int:
    """That row number, or that of the first row that some bucket set still needs to read."""
    return until if buckets.folded is None else min(until, buckets.folded - anchor.history.offset)


def _kept(head: Head, log: StateLog, anchor: str, key: BucketKey) -> PersistedBuckets:
    buckets, name = head.buckets[anchor], key.path(anchor)
    return PersistedBuckets(buckets.read(name, log), buckets.sets[name].folded, head.segments[anchor].voided)


@contextmanager
def exclusive(directory: Path) -> Iterator[bool]:
    """Hold the directory's lock; False if another process has it."""
    directory.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield True
        except BlockingIOError:
            yield False
    finally:
        os.close(descriptor)


def _boot() -> int:
    """A number for this run of the machine: mapped files from before a crash of it prove nothing."""
    try:
        return crc32(Path("/proc/sys/kernel/random/boot_id").read_bytes())
    except OSError:
        return 0
