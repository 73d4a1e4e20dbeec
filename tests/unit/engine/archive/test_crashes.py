"""Whenever the archiver is killed or power is lost, a reader of topic and archive finds each record exactly once.

A partition lives through a drawn sequence of steps: records arrive, they are written, files are merged, the topic
deletes what is on the disk. A step may crash at any single thing that it does to the disk; the next one begins with
what is found there. After each crash, and in the end, all is read from offset 0.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.engine.archive.support.memory_store import (
    DAY_MS,
    START,
    Crash,
    FailingDisk,
    MemoryTopic,
    record,
)
from tripline_engine.archive.file_store import FileStore
from tripline_engine.archive.journal import Cursor, Journal
from tripline_engine.archive.partition_writer import PartitionWriter
from tripline_engine.archive.table import TableFormat
from tripline_engine.errors import ArchiveMismatch, RecordsMissing
from tripline_engine.kafka_log.record import Record

ARRIVALS = st.tuples(st.just("arrive"), st.integers(1, 3), st.booleans())
DEEDS = st.tuples(
    st.sampled_from(["write", "write", "write", "merge", "merge", "delete"]),
    st.one_of(st.none(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 20)),
    st.sampled_from([(False, False), (True, False), (False, True), (True, True)]),
)
STEPS = st.lists(st.one_of(ARRIVALS, DEEDS, DEEDS), min_size=60, max_size=120)


class World:
    """One partition, its archive, and the archiver's part of it, which a crash ends."""

    def __init__(self, folder: Path) -> None:
        self.topic, self.disk = MemoryTopic(), FailingDisk()
        self.store = FileStore(folder, "transaction", "transactions.v1", self.disk)
        self.now, self.crashes, self.merges = START, 0, 0
        self.start()

    @property
    def kept(self) -> list[Record]:
        """The topic's one partition."""
        return self.topic.kept[0]

    def start(self) -> None:
        """As the archiver does."""
        self.store.remove_unfinished()
        pieces = self.store.files().get(0, [])
        self.writer = PartitionWriter.of(self.store, TableFormat(None), pieces, lambda _records, _size: None)
        for one in self.kept[self.writer.begin(self.topic.span(0)) :]:
            self.writer.take(one)

    def arrive(self, count: int, next_day: bool) -> None:
        self.now += DAY_MS if next_day else 1000
        for _ in range(count):
            self.kept.append(record(len(self.kept), timestamp=self.now))
            self.writer.take(self.kept[-1])

    def do(self, deed: str, crash_at: int | None, how: tuple[bool, bool]) -> bool:
        """Whether it crashed."""
        self.disk.crash_at = -1 if crash_at is None else self.disk.done + crash_at
        self.disk.after, self.disk.power = how
        try:
            match deed:
                case "write":
                    self.writer.flush()
                case "merge":
                    self.merges += self.writer.merge()
                case "delete":
                    self.topic.low[0] = self.writer.position or 0
        except Crash:
            self.crashes += 1
            self.disk.crash_at, self.disk.fresh = -1, []
            self.start()
            return True
        return False

    def read(self) -> None:
        """Everything from the beginning, as a rebuild would."""
        expected = self.kept
        cursor = Cursor(Journal(self.topic, self.store), 0, 0)
        half = len(expected) // 2
        assert cursor.take(half) + cursor.take(len(expected)) == expected


@pytest.mark.slow
def test_no_crash_loses_or_doubles_a_record() -> None:
    seen = {"crashes": 0, "merges": 0}

    @settings(max_examples=30, suppress_health_check=list(HealthCheck))
    @given(steps=STEPS)
    def holds(steps: list[tuple[str, int | None, bool | tuple[bool, bool]]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            world = World(Path(folder))
            for name, number, how in steps:
                if isinstance(how, bool):
                    world.arrive(number or 1, how)
                elif world.do(name, number, how):
                    world.read()
            world.read()
            # what a crash leaves behind is gone with the next start
            world.start()
            files = [path for path in world.store.folder.rglob("*") if path.is_file()]
            assert len(files) == len(world.writer.files)
        seen["crashes"] += world.crashes
        seen["merges"] += world.merges

    holds()
    assert seen["crashes"] > 150
    assert seen["merges"] > 20


def test_each_thing_that_a_merge_of_sixteen_does_may_be_the_last(tmp_path: Path) -> None:
    survived = 0
    for step in range(60):
        for how in [(False, False), (True, False), (False, True), (True, True)]:
            world = World(tmp_path / f"{step}-{how}")
            for _ in range(16):
                world.arrive(1, next_day=False)
                world.do("write", None, how)
            world.do("delete", None, how)
            world.do("merge", step, how)
            world.read()
            survived += world.crashes
            if not world.crashes:
                assert world.merges == 1
                break
        else:
            continue
        break
    # aside, name, folder, sixteen removals: nineteen things, each before and after, with power or without
    assert survived == 4 * 19


def test_a_gap_is_named(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.arrive(3, next_day=False)
    world.do("write", None, (False, False))
    world.kept.extend(record(offset) for offset in range(3, 9))
    world.topic.low[0] = 7
    cursor = Cursor(Journal(world.topic, world.store), 0, 0)
    assert len(cursor.take(3)) == 3
    with pytest.raises(RecordsMissing, match=r"transactions\.v1 partition 0: offsets 3 to 6 are neither"):
        cursor.take(9)
    with pytest.raises(RecordsMissing, match="offsets 0 to 6 are not in the topic, and no archive is set"):
        Cursor(Journal(world.topic, None), 0, 0).take(9)


def test_what_the_topic_deletes_while_it_is_read_comes_from_the_archive(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.arrive(20, next_day=False)
    journal = Journal(world.topic, world.store)
    cursor = Cursor(journal, 0, 0)
    assert cursor.take(5) == world.kept[:5]
    world.do("write", None, (False, False))
    world.topic.deletes_at = 8
    assert cursor.take(20) == world.kept[5:]
    assert world.topic.low == {0: 20}
    assert journal.last(0) == world.kept[-1]


@pytest.mark.parametrize("archived", [0, 3, 20], ids=["nothing", "a file", "all"])
def test_a_part_ends_where_it_is_told(tmp_path: Path, archived: int) -> None:
    world = World(tmp_path)
    for count in (archived, 20 - archived):
        world.arrive(count, next_day=False)
        if count == archived and archived:
            world.do("write", None, (False, False))
            world.topic.low[0] = archived
    part = Journal(world.topic, world.store).up_to({0: 12})
    assert [one for run in part.runs(0, 1) for one in run] == world.kept[1:12]
    assert Cursor(part, 0, 1).take(12) == world.kept[1:12]
    assert (part.end(0), Journal(world.topic, world.store).end(0)) == (12, 20)


@pytest.mark.parametrize("is_archived", [True, False])
def test_what_comes_while_it_is_read_is_read_too(tmp_path: Path, is_archived: bool) -> None:
    world = World(tmp_path)
    world.arrive(5, next_day=False)
    cursor = Cursor(Journal(world.topic, world.store), 0, 0)
    assert cursor.take(5) == world.kept[:5]
    world.arrive(4, next_day=False)
    if is_archived:
        world.do("write", None, (False, False))
    assert cursor.take(7) == world.kept[5:7]
    assert cursor.take(9) == world.kept[7:]
    with pytest.raises(RecordsMissing, match="ends at 9, and it was read up to 10 once"):
        cursor.take(10)


def test_an_archiver_that_was_away_too_long_goes_on_behind_the_gap(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.arrive(2, next_day=False)
    world.do("write", None, (False, False))
    world.kept.extend(record(offset) for offset in range(2, 9))
    world.topic.low[0] = 6
    world.start()
    world.writer.pending = world.kept[6:]
    world.do("write", None, (False, False))
    journal = Journal(world.topic, world.store)
    assert [tuple(span) for span in journal.available_ranges(0)] == [(0, 2), (6, 9)]
    assert Cursor(journal, 0, 6).take(9) == world.kept[6:]


def test_days_that_are_deleted_by_hand_are_not_merged(tmp_path: Path) -> None:
    world = World(tmp_path)
    for next_day in (False, False, True):
        world.arrive(2, next_day)
        world.do("write", None, (False, False))
    old, _, today = world.writer.files
    shutil.rmtree((world.store.folder / old.file.path).parent)
    assert world.writer.merge()
    assert world.writer.files == [today]
    assert not world.writer.merge()
    assert [path.name for path in world.store.folder.rglob("*") if path.is_file()] == [today.file.path.name]
    world.arrive(1, next_day=False)
    world.do("write", None, (False, False))
    assert Cursor(Journal(world.topic, world.store), 0, 4).take(7) == world.kept[4:]


def test_a_topic_that_was_made_anew_is_not_mixed_with_the_old_one(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.arrive(5, next_day=False)
    world.do("write", None, (False, False))
    del world.kept[2:]
    with pytest.raises(ArchiveMismatch, match=r"has offsets up to 5, and the topic ends at 2"):
        world.start()
