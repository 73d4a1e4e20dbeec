"""What has passed every window goes, from memory and from the state log, in shards that get ticks only too."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.model import MicroBatch, Record
from tests.unit.engine.shard.test_against_oracle import assert_equal
from tests.unit.engine.support.shard_harness import Engine
from tripline_engine.domain.history import history as histories

T = 1_700_000_000_000
WINDOW = 600
# A window, then lateness and disorder (600 s and 300 s), then what ids are remembered for beyond that.
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
def test_memory_and_state_log_are_given_back(mapped: bool, tmp_path: Path) -> None:
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
        assert full[0] > 3 * before[0]
        assert full[1] > 3 * before[1]
        assert after[0] < 5_000
        assert after[1] <= before[1]


FUNCTIONS: dict[str, dict[str, Any]] = {
    "SUM": {},
    "MAX": {},
    "COUNT_DISTINCT": {"field": "beneficiaryId"},
    "COUNT": {"late_events": "reevaluate"},
    "MIN": {"reset": True},
}


@pytest.mark.parametrize("most", [30_000, None], ids=["numbers run out", "numbers are left"])
def test_rows_that_go_leave_no_memory_behind_in_windows_either(
    most: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if most is not None:
        monkeypatch.setattr(histories, "_MOST_ROWS", most)
    engine, registry = Engine(1, tmp_path), Registry()
    rules = [
        registry.publish(
            number, draft(function, ">", "1000000", by=("payeeId", "paymentType"), seconds=60, **more), 0, 0
        )
        for number, (function, more) in enumerate(FUNCTIONS.items(), 1)
    ]
    engine.take(MicroBatch(tuple(rules), (b'{"clock":%d}' % T,), ()))
    sizes = []
    # fifty a second; what is held is of a minute, lateness and disorder: 960 seconds
    for start in range(0, 160_000, 8_000):
        at = T + start * 20
        engine.take(tick(at))
        records = tuple(transaction(n, n % 100, T + n * 20) for n in range(start, start + 8_000))
        engine.take(MicroBatch((), (), records))
        os.sync()
        windows = on_disk(tmp_path, "*.by.*") + on_disk(tmp_path, "*.groups.*")
        sizes.append((engine.history_bytes()[0], on_disk(tmp_path, "*"), windows))
    if not engine.projection(0).anchors["payeeId"].history.released_bytes:
        pytest.skip("this file system makes no holes")
    # once rows go windows don't grow, and what it says is what there is
    held = [size for _, _, size in sizes[9:]]
    assert max(held) <= 1.25 * held[0]
    for said, there, _ in sizes[9:]:
        assert 0.8 * there <= said <= 1.4 * there
    moved = any(anchor.history.offset > 0 for anchor in engine.projection(0).anchors.values())
    assert moved == (most is not None)


def on_disk(folder: Path, pattern: str) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob(pattern) if path.is_file())


def test_what_a_window_still_needs_stays() -> None:
    engine = Engine(1)
    filled(engine, 20_000, 100)
    # The other anchors have no rules, so their share goes with lateness and disorder alone.
    engine.take(tick(T + (WINDOW + 900) * 1000))
    assert engine.history_rows() == [20_000]
    engine.take(tick(T + (WINDOW + 900) * 1000 + 10_000))
    assert engine.history_rows() == [10_000]


@pytest.mark.parametrize("function", ["COUNT", "MAX", "COUNT_DISTINCT"])
def test_a_wider_window_finds_nothing_of_a_list_whose_newest_transaction_has_gone(function: str) -> None:
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
    assert engine.history_rows() == [3 + 1 + 1]  # with a rule, and without
    assert "t3" in {alert["transaction"]["transactionId"] for alert in engine.alerts()}
    assert_equal(engine, judge(batches))
