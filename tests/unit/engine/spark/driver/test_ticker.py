"""The ticker over a stream held in memory: what it sends, and what it knows after a restart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tripline_engine.domain.shard.engine_config import Clock
from tripline_engine.spark.driver.tick_policy import TickState
from tripline_engine.spark.driver.ticker import Clocks, Ticker, save_state

ENGINE = "engine-1"


@dataclass
class MemoryStream:
    """Kafka and checkpoint as lists."""

    ends: dict[int, int] = field(default_factory=dict)
    commits: dict[int, int] = field(default_factory=dict)
    order: list[Any] = field(default_factory=list)
    rules: list[Any] = field(default_factory=list)
    ticks: list[int] = field(default_factory=list)
    order_position: int = 0
    rules_position: int = 0

    def transaction_ends(self) -> Mapping[int, int]:
        return dict(self.ends)

    def committed(self) -> Mapping[int, int]:
        return dict(self.commits)

    def order_records(self) -> Iterable[Any]:
        fresh, self.order_position = self.order[self.order_position :], len(self.order)
        return fresh

    def rule_events(self) -> Iterable[Any]:
        fresh, self.rules_position = self.rules[self.rules_position :], len(self.rules)
        return fresh

    def send_tick(self, clock: int) -> None:
        self.ticks.append(clock)

    def judge(self, partition: int, until: int, record_time: int, engine: str = ENGINE) -> None:
        part = {"partition": partition, "from": 0, "until": until, "maxRecordTime": record_time}
        self.order.append({"engine": engine, "transactions": [part]})
        self.ends[partition] = max(until, self.ends.get(partition, 0))
        self.commits[partition] = until


@dataclass
class Hands:
    """Both clocks, set by hand."""

    wall: int = 1_000_000
    elapsed: int = 0


def ticker(stream: MemoryStream, folder: Path, hands: Hands, mode: Clock = "wall") -> Ticker:
    return Ticker(stream, folder, ENGINE, mode, Clocks(lambda: hands.wall, lambda: hands.elapsed))


def test_it_follows_the_data_and_sends_nothing_twice(tmp_path: Path) -> None:
    stream = MemoryStream()
    subject = ticker(stream, tmp_path, Hands())
    stream.judge(0, 5, 700)
    assert subject.step() == 700
    assert subject.step() is None
    stream.judge(0, 6, 650)
    assert subject.step() is None
    stream.judge(0, 7, 701)
    assert subject.step() == 701
    assert stream.ticks == [700, 701]


def test_when_all_rests_the_wall_clock_moves_it(tmp_path: Path) -> None:
    stream, hands = MemoryStream(ends={0: 0, 1: 0}), Hands()
    subject = ticker(stream, tmp_path, hands)
    assert subject.step() is None
    hands.elapsed, hands.wall = 30_000, 1_030_000
    assert subject.step() == 1_000_000
    hands.elapsed, hands.wall = 31_000, 1_031_000
    assert subject.step() is None
    hands.elapsed, hands.wall = 40_000, 1_040_000
    assert subject.step() == 1_010_000


def test_old_data_at_rest_stands_still(tmp_path: Path) -> None:
    stream, hands = MemoryStream(), Hands()
    subject = ticker(stream, tmp_path, hands, "data")
    stream.judge(0, 5, 700)
    assert subject.step() == 700
    hands.elapsed = 10**9
    assert subject.step() is None


def test_old_data_that_are_taken_between_two_looks_move_it(tmp_path: Path) -> None:
    stream, hands = MemoryStream(), Hands()
    subject = ticker(stream, tmp_path, hands, "data")
    stream.judge(0, 5, 700)
    assert subject.step() == 700
    hands.elapsed = 60_000
    stream.judge(0, 6, 900)
    assert subject.step() == 900


def test_a_lagging_partition_holds_the_clock(tmp_path: Path) -> None:
    stream, hands = MemoryStream(), Hands()
    subject = ticker(stream, tmp_path, hands)
    stream.judge(0, 5, 700)
    stream.judge(1, 5, 300)
    stream.ends[1] = 50
    assert subject.step() == 300
    hands.elapsed = 60_000
    stream.judge(0, 9, 900)
    stream.ends[0] = 10
    assert subject.step() is None
    assert subject.unread == {0: 1, 1: 45}


def test_another_engine_on_the_same_topic_counts_for_nothing(tmp_path: Path) -> None:
    stream = MemoryStream()
    subject = ticker(stream, tmp_path, Hands())
    stream.judge(0, 5, 900, engine="somebody else")
    assert subject.step() is None


def test_the_idle_time_is_a_setting_in_the_rule_log(tmp_path: Path) -> None:
    stream, hands = MemoryStream(ends={0: 0}), Hands()
    settings = {"idlePartitionSeconds": 3}
    stream.rules = [
        "garbage",
        {"type": "RulePublished", "position": 1, "settings": {}},
        {"type": "SettingsChanged", "position": 9, "settings": {"idlePartitionSeconds": 0}},
        {"type": "SettingsChanged", "position": 2, "settings": settings},
        {"type": "SettingsChanged", "position": 1, "settings": {"idlePartitionSeconds": 0}},
    ]
    subject = ticker(stream, tmp_path, hands)
    assert subject.step() is None
    hands.elapsed = 3_000
    assert subject.step() == hands.wall - 3_000


def test_a_restart_goes_on_from_the_last_tick_without_reading_all_again(tmp_path: Path) -> None:
    stream = MemoryStream()
    stream.judge(0, 5, 700)
    stream.judge(1, 5, 800)
    assert ticker(stream, tmp_path, Hands()).step() == 700
    again = ticker(stream, tmp_path, Hands())
    assert stream.order_position == 2
    assert again.step() is None
    stream.judge(0, 6, 750)
    assert again.step() == 750


def test_what_a_rebuild_of_another_engine_left_behind_is_not_its_own(tmp_path: Path) -> None:
    save_state(tmp_path, "engine-0", 40, TickState({0: 10**12}), None)
    stream = MemoryStream()
    stream.judge(0, 5, 700)
    assert ticker(stream, tmp_path, Hands()).step() == 700


def test_it_goes_on_from_what_a_rebuild_has_read(tmp_path: Path) -> None:
    stream = MemoryStream()
    stream.judge(0, 5, 700)
    stream.judge(1, 5, 800)
    save_state(tmp_path, ENGINE, 2, TickState({0: 700, 1: 800}), None)
    assert ticker(stream, tmp_path, Hands()).step() == 700
    assert stream.order_position == 2


def test_without_its_file_it_reads_all_again(tmp_path: Path) -> None:
    stream = MemoryStream()
    stream.judge(0, 5, 700)
    assert ticker(stream, tmp_path, Hands()).step() == 700
    (tmp_path / "ticker.json").write_text("{broken")
    stream.order_position = 0
    assert ticker(stream, tmp_path, Hands()).step() == 700


def test_where_it_is_insisted_the_last_tick_comes_again(tmp_path: Path) -> None:
    stream, full = MemoryStream(), [False]
    clocks = Clocks(lambda: 1_000_000, lambda: 0)
    subject = Ticker(stream, tmp_path, ENGINE, "data", clocks, repeats_tick=lambda: full[0])
    stream.judge(0, 5, 700)
    assert subject.step() == 700
    assert subject.step() is None
    full[0] = True
    assert (subject.step(), subject.step()) == (700, 700)
    stream.judge(0, 6, 650)
    assert subject.step() == 700
    # a partition that has never been read holds the clock, and must not hold what the clock is insisted on for
    stream.ends[1] = 3
    assert subject.step() == 700
    full[0] = False
    assert subject.step() is None
