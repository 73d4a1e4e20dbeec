"""Retention: what has passed every window leaves memory and the state log, in shards that get only ticks too."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.model import MicroBatch, Record
from tests.unit.engine.shard.test_against_oracle import assert_equal
from tests.unit.engine.support.shard_harness import KEEPING_ALL, Engine
from tripline_engine.domain.history.history import HistoryTuning
from tripline_engine.domain.judging.anchor_tuning import AnchorTuning
from tripline_engine.domain.shard.shard_tuning import ShardTuning

T = 1_700_000_000_000
WINDOW = 600
# A window, then lateness and disorder (600 s and 300 s), then the skew for which ids are kept beyond that.
LONG_AFTER = T + (WINDOW + 600 + 300 + 300) * 1000 + 120_000


def transaction(number: int, payee: int, time: int) -> Record:
    value = (
        f'{{"transactionId":"t{number}","eventTime":{time},"payeeId":"p{payee}","beneficiaryId":"b{number % 50}",'
        f'"paymentAmount":"1.5","paymentType":"CSH"}}'
    )
    return Record(0, number, time, value.encode())


def tick(clock: int) -> MicroBatch:
    return MicroBatch((), (b'{"clock":%d}' % clock,), ())


def filled(engine: Engine, count: int, payees: int) -> None:
    registry = Registry()
    rules = [
        registry.publish(1, draft("SUM", ">", "1000000", by=("payeeId",), seconds=WINDOW), 0, 0),
        registry.publish(
            2, draft("MAX", ">", "1000000", by=("payeeId", "paymentType"), seconds=WINDOW), 0, 0
        ),
    ]
    engine.take(MicroBatch(tuple(rules), (b'{"clock":%d}' % T,), ()))
    for start in range(0, count, 10_000):
        records = tuple(transaction(n, n % payees, T + n % 60_000) for n in range(start, start + 10_000))
        engine.take(MicroBatch((), (), records))


@pytest.mark.parametrize("mapped", [False, True], ids=["memory", "mapped"])
def test_memory_and_state_log_shrink(mapped: bool, tmp_path: Path) -> None:
    engine = Engine(2, tmp_path if mapped else None)
    engine.take(tick(T))
    filled(engine, 10_000, 10)
    small = [(log.bytes, size) for log, size in zip(engine.logs, engine.history_bytes(), strict=True)]
    filled(engine, 60_000, 30_000)
    large = [(log.bytes, size) for log, size in zip(engine.logs, engine.history_bytes(), strict=True)]
    engine.take(tick(LONG_AFTER))
    left = [(log.bytes, size) for log, size in zip(engine.logs, engine.history_bytes(), strict=True)]
    assert engine.history_rows() == [0, 0]
    for before, full, after in zip(small, large, left, strict=True):
        # six times the rows, of many more payees: the sizes follow
        assert full[0] > 3 * before[0]
        assert full[1] > 3 * before[1]
        # what is left of the state log: the head and the rules
        assert after[0] < 5_000
        assert after[1] <= before[1]


FUNCTIONS: dict[str, dict[str, Any]] = {
    "SUM": {},
    "MAX": {},
    "COUNT_DISTINCT": {"field": "beneficiaryId"},
    "COUNT": {"late_events": "reevaluate"},
    "MIN": {"reset": True},
}


# Fifty payments a second; a minute, lateness and disorder, 960 seconds of them, are retained.
BATCH_ROWS, STEP_MS = 8_000, 20


@pytest.mark.parametrize("numbered_rows", [30_000, 1 << 28], ids=["compacted", "not compacted"])
def test_dropped_rows_release_the_memory_of_their_windows_too(numbered_rows: int, tmp_path: Path) -> None:
    tuning = ShardTuning(AnchorTuning(HistoryTuning(numbered_rows=numbered_rows)))
    engine, registry = Engine(1, tmp_path, tuning=tuning, event_type=KEEPING_ALL), Registry()
    rules = [
        registry.publish(
            number, draft(function, ">", "1000000", by=("payeeId", "paymentType"), seconds=60, **more), 0, 0
        )
        for number, (function, more) in enumerate(FUNCTIONS.items(), 1)
    ]
    engine.take(MicroBatch(tuple(rules), (b'{"clock":%d}' % T,), ()))
    reported, windows, differences = [], [], []
    for start in range(0, 20 * BATCH_ROWS, BATCH_ROWS):
        engine.take(tick(T + start * STEP_MS))
        numbers = range(start, start + BATCH_ROWS)
        engine.take(MicroBatch((), (), tuple(transaction(n, n % 100, T + n * STEP_MS) for n in numbers)))
        os.sync()
        windows.append(on_disk(tmp_path, "*.by.*") + on_disk(tmp_path, "*.groups.*"))
        reported.append(engine.history_bytes()[0])
        # tables of ids and texts have no order in which rows leave them: they are reported with their spare capacity
        spare = unwritten(tmp_path, "*.ids.*") + unwritten(tmp_path, "*.values.*")
        differences.append(reported[-1] - spare - on_disk(tmp_path, "*"))
    if not engine.projection(0).anchors["payeeId"].history.released_bytes:
        pytest.skip("this file system makes no holes")
    # once rows are dropped, windows hold at most a batch more, and a piece that is dropped and not yet released
    batch_bytes = windows[1] - windows[0]
    more_rows = BATCH_ROWS + HistoryTuning().released_rows
    assert max(windows[9:]) - min(windows[9:]) <= batch_bytes * more_rows / BATCH_ROWS
    # of each file the pages at both ends of what it holds are partly used
    edges = 2 * mmap.PAGESIZE * len(list(tmp_path.rglob("*")))
    assert max(map(abs, differences)) <= edges < 0.07 * min(reported[9:])
    compacted = any(anchor.history.offset > 0 for anchor in engine.projection(0).anchors.values())
    assert compacted == (numbered_rows == 30_000)


def on_disk(folder: Path, pattern: str) -> int:
    """Bytes that these files take on the disk."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob(pattern) if path.is_file())


def unwritten(folder: Path, pattern: str) -> int:
    """Bytes of these files that take no room on the disk."""
    sizes = sum(path.stat().st_size for path in folder.rglob(pattern) if path.is_file())
    return sizes - on_disk(folder, pattern)


def test_rows_that_a_window_needs_are_retained() -> None:
    engine = Engine(1)
    filled(engine, 20_000, 100)
    # the other anchors have no rules, so they have nothing
    engine.take(tick(T + (WINDOW + 900) * 1000))
    assert engine.history_rows() == [20_000]
    engine.take(tick(T + (WINDOW + 900) * 1000 + 10_000))
    assert engine.history_rows() == [10_000]


@pytest.mark.parametrize("function", ["COUNT", "MAX", "COUNT_DISTINCT"])
def test_a_wider_window_has_nothing_of_a_list_whose_newest_transaction_was_dropped(function: str) -> None:
    """Its older one came later, and is held: the row between them in the order of acceptance is still needed."""
    registry, after = Registry(), T + 965_000  # beyond the window of a minute, lateness and disorder
    limit = "1" if function != "MAX" else "5"
    field = "paymentType" if function == "COUNT_DISTINCT" else "paymentAmount"
    narrow, wide = (draft(function, "=", limit, seconds=seconds, field=field) for seconds in (60, 120))
    batches = [
        batch(events=[registry.publish(1, narrow, 0, T)], ticks=[T]),
        batch(
            records=[
                payment(0, T, "7"),
                payment(1, T + 30_000, "7", more={"payeeId": 1}),
                payment(2, T - 10_000, "9", record_time=T + 31_000, more={"paymentType": "CRD"}),
            ]
        ),
        batch(ticks=[after]),
        batch(events=[registry.publish(1, wide, 0, after)], records=[payment(3, after + 1_000, "5")]),
    ]
    engine = Engine(1)
    engine.run(batches)
    assert engine.history_rows() == [3]
    assert "t3" in {alert["transaction"]["transactionId"] for alert in engine.alerts()}
    assert_equal(engine, judge(batches))
