"""Fields that no rule, present or to come, can see are pruned from memory and from the state log, and results stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.model import Json, MicroBatch
from tests.unit.engine.shard.test_against_oracle import assert_equal
from tests.unit.engine.support.eager_retention import EAGER
from tests.unit.engine.support.shard_harness import KEEPING_ALL, TRANSACTION, Engine, keeping
from tripline_engine.domain.history.history import History
from tripline_engine.domain.shard.ports import Kind
from tripline_engine.domain.state_log.head import Head

T = 1_700_000_000_000
MINUTE = 60_000
DAY_SECONDS = 86_400


def take(engine: Engine, batches: Iterable[MicroBatch], lost: int | None, failed: int | None) -> None:
    """Take the micro-batches; lose memory before one of them, and fail one once."""
    for number, taken in enumerate(batches):
        if number == lost:
            engine.forget()
        if number == failed:
            engine.fail(taken)
        engine.take(taken)
        engine.change_worker()


def minutes(first: int, until: int) -> list[MicroBatch]:
    """Every other minute a tick and two payments, of three payees to two beneficiaries."""
    batches = []
    for minute in range(first, until, 2):
        clock = T + minute * MINUTE
        records = [
            payment(
                2 * minute + n, clock + n, str(minute % 7), more={"payeeId": minute % 3, "beneficiaryId": n}
            )
            for n in range(2)
        ]
        batches.append(batch(ticks=[clock], records=records))
    return batches


COUNT_BY_PAYEE = draft("COUNT", ">", "1000", by=("payeeId",), seconds=DAY_SECONDS)
# each uses fields that the one above does not
LATER = [
    draft("SUM", ">", "10", by=("payeeId", "beneficiaryId"), seconds=1_800),
    draft("MAX", ">", "5", by=("payeeId", "paymentType"), seconds=DAY_SECONDS, firing="crossing"),
    draft("COUNT_DISTINCT", ">", "1", by=("payeeId",), seconds=DAY_SECONDS, field="beneficiaryId"),
    draft("SUM", ">", "10", by=("payeeId",), seconds=1_800, late_events="reevaluate"),
    draft("AVG", ">", "2", by=("payeeId", "paymentAmount"), seconds=3_600),
    draft("SUM", ">", "10", by=("payeeId",), seconds=7_200, bucket=600),
    draft("COUNT", ">", "2", by=("payeeId", "beneficiaryId"), seconds=1_800, reset=True),
]


@pytest.mark.slow
@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize(
    ("lost", "mapped"), [(44, False), (50, True)], ids=["lost before", "lost after, mapped"]
)
def test_a_rule_that_names_a_field_later_sees_what_it_may(
    later: Draft, lost: int | None, *, mapped: bool, pruned: Counter[str], tmp_path: Path
) -> None:
    registry = Registry()
    first = batch(events=[registry.publish(1, COUNT_BY_PAYEE, 0, 0)], ticks=[T])
    # in force from before the oldest transaction: it judges what it can still see of it
    second = batch(events=[registry.publish(2, later, T, 0)])
    gone = batch(events=[registry.move("RuleDeleted", "DELETED", 2, 0)])
    third = batch(events=[registry.publish(3, later, T, 0)])
    late = [
        payment(9_000 + n, T + (149 - n) * MINUTE, "6", record_time=T + 148 * MINUTE, more={"payeeId": n % 3})
        for n in range(9)
    ]
    batches = [first, *minutes(0, 90), second, *minutes(90, 150), batch(records=late), gone]
    batches += [*minutes(150, 240), third, *minutes(240, 250)]
    engine = Engine(1, tmp_path if mapped else None, tuning=EAGER)
    take(engine, batches, lost, failed=60)
    expected = judge(batches)
    assert_equal(engine, expected)
    assert any(alert["partial"] for alert in expected.alerts) or later.bucket
    assert engine.counters["pruned_columns"] > 0
    assert pruned["beneficiaryId"] + pruned["paymentAmount"] > 50


@pytest.mark.parametrize("lost", [100, 180])
@pytest.mark.parametrize("fan_in", [2, 1_000])
def test_buckets_keep_what_they_were_told_of_fields_that_have_gone(lost: int, fan_in: int) -> None:
    registry = Registry()
    bucketed = draft("SUM", ">", "20", by=("payeeId", "beneficiaryId"), seconds=7_200, bucket=60)
    rules = [registry.publish(1, COUNT_BY_PAYEE, 0, 0), registry.publish(2, bucketed, 0, 0)]
    batches = [batch(events=rules, ticks=[T]), *minutes(0, 60)]
    # of what is void some stands in buckets whose rows are still there
    batches.append(batch(events=[registry.void(f"t{n}", T + n // 2 * MINUTE + n % 2) for n in (8, 60, 117)]))
    # late ones by themselves fall below their field's floor before what was accepted earlier
    for number, taken in enumerate(minutes(60, 140)):
        now = T + (60 + 2 * number) * MINUTE
        more = {"payeeId": number % 3}
        late = payment(7_000 + number, now - 8 * MINUTE, "9", record_time=now, more=more)
        batches += [taken, batch(records=[late]), *[batch(ticks=[now])] * 3]
    tuning = replace(EAGER, segments=replace(EAGER.segments, fan_in=fan_in))
    engine = Engine(1, tuning=tuning)
    take(engine, batches, lost, failed=None)
    expected = judge(batches)
    assert len(expected.alerts) > 20
    assert_equal(engine, expected)
    assert pruned_in_log(engine, "beneficiaryId") > 40


def pruned_in_log(engine: Engine, field: str, anchor: str = "payeeId") -> int:
    log = engine.logs[0]
    runs = Head.read(log, TRANSACTION).anchors[anchor].read_rows()
    return sum(rows.table.column(field).null_count for rows, _ in runs)


@pytest.mark.parametrize("lost", [20, 27, 30, 33])
def test_ids_stay_known_while_the_anchor_s_field_is_below_its_floor(lost: int, pruned: Counter[str]) -> None:
    del pruned
    registry = Registry()
    # no rule uses the beneficiary, so it goes from its own anchor too, but not before ids are forgotten
    batches = [batch(events=[registry.publish(1, COUNT_BY_PAYEE, 0, 0)], ticks=[T])]
    for number in range(21):
        clock = T + 2 * number * MINUTE
        sent = payment(number, clock - 8 * MINUTE, record_time=clock, more={"beneficiaryId": number % 2})
        batches.append(batch(ticks=[clock], records=[sent]))
    now = T + 40 * MINUTE
    batches += [batch(ticks=[now])] * 8
    # what counts is the id: the event time is another one
    for number in range(21):
        again: dict[str, Json] = {"transactionId": f"t{number}", "beneficiaryId": number % 2}
        batches.append(batch(records=[payment(100 + number, now, more=again)]))
    engine = Engine(1, tuning=EAGER, event_type=keeping(TRANSACTION, {"beneficiaryId"}))
    take(engine, batches, lost, failed=None)
    expected = judge(batches, kept={"beneficiaryId"})
    assert expected.duplicates > 10
    assert_equal(engine, expected)
    assert pruned_in_log(engine, "paymentAmount", "beneficiaryId") == 0
    assert pruned_in_log(engine, "paymentType", "beneficiaryId") > pruned_in_log(
        engine, "beneficiaryId", "beneficiaryId"
    )


def filled(engine: Engine, rules: Iterable[Draft]) -> None:
    """Two hours of payments, 60 a minute, each to a beneficiary of its own."""
    registry = Registry()
    events = [registry.publish(number, rule, 0, 0) for number, rule in enumerate(rules, start=1)]
    engine.take(batch(events=events, ticks=[T]))
    for minute in range(120):
        clock, first = T + minute * MINUTE, 60 * minute
        records = [
            payment(first + n, clock + n, f"{n}.5", more={"payeeId": n % 4, "beneficiaryId": f"b{first + n}"})
            for n in range(60)
        ]
        engine.take(batch(ticks=[clock], records=records))


def test_texts_and_columns_that_nobody_can_see_are_not_held() -> None:
    every = draft("SUM", ">", "1e9", by=("payeeId", "beneficiaryId", "paymentType"), seconds=DAY_SECONDS)
    few, all_of_them = Engine(1, event_type=KEEPING_ALL), Engine(1, event_type=KEEPING_ALL)
    filled(few, [COUNT_BY_PAYEE])
    filled(all_of_them, [every])
    assert few.history_rows() == [7_200 + 2 * 60 * 16]
    rows = [anchor_of(engine).end - anchor_of(engine).base for engine in (few, all_of_them)]
    assert rows == [7_200, 7_200]
    # lateness and disorder are 15 minutes
    assert anchor_of(few).values["beneficiaryId"].used == 60 * 16
    assert anchor_of(all_of_them).values["beneficiaryId"].used == 7_200
    assert anchor_of(few).values["payeeId"].used == anchor_of(all_of_them).values["payeeId"].used == 4
    sizes = [segment_bytes(engine, "payeeId") for engine in (few, all_of_them)]
    assert sizes[0] < 0.75 * sizes[1]
    # when a rule names the field, what is pruned reads as null
    before = few.logs[0].committed
    registry = Registry()
    registry.publish(1, COUNT_BY_PAYEE, 0, 0)
    few.take(batch(events=[registry.publish(2, every, 0, 0)]))
    codes = anchor_of(few).codes("beneficiaryId")[:7_200]
    assert (codes >= 0).tolist() == [False] * (7_200 - 60 * 16) + [True] * 60 * 16
    # and so it does after a rebuild, as far as it went from the log
    few.logs[0].committed = before
    few.logs[0].abort()
    few.forget()
    few.take(batch(ticks=[T + 120 * MINUTE]))
    assert few.counters["rebuilds"] == 1
    assert 60 * 15 <= anchor_of(few).values["beneficiaryId"].used < 60 * 40


def anchor_of(engine: Engine, name: str = "payeeId") -> History:
    (projection,) = engine._workers[0].values()
    return projection.anchors[name].history


def segment_bytes(engine: Engine, anchor: str) -> int:
    return sum(
        len(data) for key, data in engine.logs[0].committed.items() if key.startswith(f"segment/{anchor}/")
    )


def test_fields_that_are_not_declared_do_not_cross_the_shuffle() -> None:
    engine = Engine(2)
    bare = [payment(n, T + n, more={"payeeId": n}) for n in range(50)]
    more = [
        payment(n, T + n, more={"payeeId": n, "iban": "x" * 1_000, "z": {"y": [1] * 99}}) for n in range(50)
    ]
    crossed = [
        [
            p.data
            for shard in engine.payloads(batch(records=one_engine))
            for p in shard
            if p.kind == Kind.TRANSACTIONS
        ]
        for one_engine in (bare, more)
    ]
    assert crossed[0] == crossed[1]
    assert len(crossed[0]) == 2
