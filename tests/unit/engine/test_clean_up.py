"""What has passed every window goes, from memory and from the state log, in shards that get ticks only too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.judging import judge
from tests.oracle.model import MicroBatch, Record
from tests.oracle.registry import Registry
from tests.oracle.scripting import batch, draft, payment
from tests.unit.engine.harness import Engine
from tests.unit.engine.test_against_oracle import assert_equal

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
