"""Fields and rows go when no rule, present or to come, can see them: from memory, from the state log, and unnoticed."""

from __future__ import annotations

import logging
import mmap
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import hypothesis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.generators.profile import EVERYTHING, EVERYTHING_AND_MORE, Profile
from tests.oracle.histories.random_history import random_history
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.model import Json, MicroBatch
from tests.unit.engine.shard.test_against_oracle import TREATMENTS, Treatment, assert_equal, ill_treated
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_engine.domain.history import column_pruning as pruning
from tripline_engine.domain.history import history as histories
from tripline_engine.domain.history.column_pruning import ColumnPruning
from tripline_engine.domain.history.history import History
from tripline_engine.domain.judging import anchor as anchors
from tripline_engine.domain.memory import mapped_arena as arenas
from tripline_engine.domain.memory import row_arrays
from tripline_engine.domain.memory.arena import HeapArena, whole_pages
from tripline_engine.domain.memory.mapped_arena import MappedArena
from tripline_engine.domain.shard.ports import Kind
from tripline_engine.domain.state_log import segment_log as segments
from tripline_engine.domain.state_log.head import Head
from tripline_engine.domain.transactions.columns import TransactionBatch, segment_schema
from tripline_engine.domain.transactions.hash_key import HashKey

T = 1_700_000_000_000
MINUTE = 60_000
DAY_SECONDS = 86_400

# Few rules, so that fields are unused often; much movement of the clock, so that floors pass.
PROFILE = st.builds(
    replace,
    st.sampled_from([Profile(), EVERYTHING, EVERYTHING_AND_MORE, replace(EVERYTHING, bucketed=0.6)]),
    transactions=st.sampled_from([200, 230]),
    micro_batches=st.sampled_from([(8, 20), (14, 30)]),
    keys=st.sampled_from([(1, 1), (1, 4), (2, 6)]),
    rules=st.sampled_from([(1, 1), (1, 2), (1, 3), (2, 4)]),
    rule_changes=st.sampled_from([(0, 2), (2, 9)]),
    jump_per_batch=st.sampled_from([0.07, 0.3, 0.5]),
    no_ticks=st.just(0.0),
    commands=st.sampled_from([0.0, 0.4, 0.9]),
)


@pytest.fixture
def early(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """All pieces of work are small; what is counted is pruned in memory, by field and row."""
    monkeypatch.setattr(segments, "_FAN_IN", 2)
    monkeypatch.setattr(segments, "_MOVED_ROWS", 32)
    monkeypatch.setattr(segments, "_ENTRY_ROWS", 20)
    monkeypatch.setattr(histories, "_PIECE", 16)
    monkeypatch.setattr(anchors, "_FOLDED", 16)
    monkeypatch.setattr(histories, "_WORTH", 1)
    monkeypatch.setattr(pruning, "_WORTH", 1)
    monkeypatch.setattr(HeapArena, "punch_hole", emptied)
    # what is left behind rows that moved down is emptied from the first item on, as if a page had one
    monkeypatch.setattr(row_arrays, "from_a_page", lambda first, _: first)
    # a history begins with the usual one; this has it back afterwards
    monkeypatch.setattr(histories, "_MOST_ROWS", histories._MOST_ROWS)
    seen: Counter[str] = Counter()
    extend = ColumnPruning.extend

    def counted(self: ColumnPruning, field: str, until: int) -> None:
        seen[field] += until - self.until(field)
        extend(self, field, until)

    monkeypatch.setattr(ColumnPruning, "extend", counted)
    return seen


def emptied(self: HeapArena, name: str, first: int, until: int) -> bool:
    """Gives back at once, as if a page had one item: whoever still reads there reads 0."""
    self._arrays[name][first:until] = 0
    return True


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_random_histories(early: Counter[str], record_property: Callable[[str, object], None]) -> None:
    judge_both(0, early, record_property)


@pytest.mark.soak
@pytest.mark.parametrize("chunk", range(1, 4))
@pytest.mark.timeout(900)
def test_more_random_histories(
    chunk: int, early: Counter[str], record_property: Callable[[str, object], None]
) -> None:
    judge_both(chunk, early, record_property)


def judge_both(chunk: int, early: Counter[str], record_property: Callable[[str, object], None]) -> None:
    """Engine and oracle say the same of sixteen histories, in most of which something was pruned."""
    seen: Counter[str] = Counter()
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)

    @hypothesis.seed(1000 + chunk)
    @settings(max_examples=16, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(
        seed=st.integers(0, 2**62), profile=PROFILE, treatment=TREATMENTS, most=st.sampled_from([20, 1 << 28])
    )
    def equal(seed: int, profile: Profile, treatment: Treatment, most: int) -> None:
        # whether rows move down
        histories._MOST_ROWS = most  # type: ignore[misc]
        batches = random_history(seed, profile)
        expected = judge(batches)
        before = early.total()
        with tempfile.TemporaryDirectory() as directory:
            engine = ill_treated(batches, treatment, Path(directory) if treatment.mapped else None)
        assert_equal(engine, expected)
        seen["histories"] += 1
        seen["alerts"] += len(expected.alerts)
        seen["with alerts"] += bool(expected.alerts)
        seen["pruned in memory"] += early.total() > before
        seen["pruned in the log"] += engine.counters["pruned_columns"] > 0
        seen["pruned in the log and rebuilt"] += (
            engine.counters["pruned_columns"] > 0 and engine.counters["rebuilds"] > 0
        )

    equal()
    record_property("told", dict(seen))
    assert seen["histories"] >= 16
    # what is drawn depends on the modules that are loaded, so these shares wander
    assert seen["pruned in memory"] >= 0.4 * seen["histories"]
    assert seen["pruned in the log"] >= 0.4 * seen["histories"]
    assert seen["pruned in the log and rebuilt"] > 0


def take(engine: Engine, batches: Iterable[MicroBatch], lost: int | None, failed: int | None) -> None:
    for number, each in enumerate(batches):
        if number == lost:
            engine.forget()
        if number == failed:
            engine.fail(each)
        engine.take(each)
        engine.change_worker()


def minutes(first: int, until: int) -> list[MicroBatch]:
    """Every other minute a tick and two payments, of three payees to two beneficiaries."""
    found = []
    for minute in range(first, until, 2):
        at = T + minute * MINUTE
        records = [
            payment(2 * minute + n, at + n, str(minute % 7), more={"payeeId": minute % 3, "beneficiaryId": n})
            for n in range(2)
        ]
        found.append(batch(ticks=[at], records=records))
    return found


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
    later: Draft, lost: int | None, *, mapped: bool, early: Counter[str], tmp_path: Path
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
    engine = Engine(1, tmp_path if mapped else None)
    take(engine, batches, lost, failed=60)
    expected = judge(batches)
    assert_equal(engine, expected)
    assert any(alert["partial"] for alert in expected.alerts) or later.bucket
    assert engine.counters["pruned_columns"] > 0
    assert early["beneficiaryId"] + early["paymentAmount"] > 50


@pytest.mark.parametrize("lost", [100, 180])
@pytest.mark.parametrize("fan_in", [2, 1_000])
def test_buckets_keep_what_they_were_told_of_fields_that_have_gone(
    lost: int, fan_in: int, early: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    del early
    monkeypatch.setattr(segments, "_FAN_IN", fan_in)
    registry = Registry()
    bucketed = draft("SUM", ">", "20", by=("payeeId", "beneficiaryId"), seconds=7_200, bucket=60)
    rules = [registry.publish(1, COUNT_BY_PAYEE, 0, 0), registry.publish(2, bucketed, 0, 0)]
    batches = [batch(events=rules, ticks=[T]), *minutes(0, 60)]
    # of what is void some stands in buckets whose rows are still there
    batches.append(batch(events=[registry.void(f"t{n}", T + n // 2 * MINUTE + n % 2) for n in (8, 60, 117)]))
    # late ones by themselves fall below their field's floor before what was accepted earlier
    for number, each in enumerate(minutes(60, 140)):
        now = T + (60 + 2 * number) * MINUTE
        more = {"payeeId": number % 3}
        late = payment(7_000 + number, now - 8 * MINUTE, "9", record_time=now, more=more)
        batches += [each, batch(records=[late]), *[batch(ticks=[now])] * 3]
    engine = Engine(1)
    take(engine, batches, lost, failed=None)
    expected = judge(batches)
    assert len(expected.alerts) > 20
    assert_equal(engine, expected)
    assert pruned_in_log(engine, "beneficiaryId") > 40


def pruned_in_log(engine: Engine, field: str, anchor: str = "payeeId") -> int:
    log = engine.logs[0]
    found = Head.read(log, TRANSACTION).segments[anchor].read(log)
    return sum(part.table.column(field).null_count for part, _ in found)


@pytest.mark.parametrize("lost", [20, 27, 30, 33])
def test_ids_stay_known_while_the_anchor_s_field_is_below_its_floor(lost: int, early: Counter[str]) -> None:
    del early
    registry = Registry()
    # no rule uses the beneficiary, so it goes from its own anchor too, but not before ids are forgotten
    batches = [batch(events=[registry.publish(1, COUNT_BY_PAYEE, 0, 0)], ticks=[T])]
    for number in range(21):
        at = T + 2 * number * MINUTE
        sent = payment(number, at - 8 * MINUTE, record_time=at, more={"beneficiaryId": number % 2})
        batches.append(batch(ticks=[at], records=[sent]))
    now = T + 40 * MINUTE
    batches += [batch(ticks=[now])] * 8
    # what counts is the id: the event time is another one
    for number in range(21):
        again: dict[str, Json] = {"transactionId": f"t{number}", "beneficiaryId": number % 2}
        batches.append(batch(records=[payment(100 + number, now, more=again)]))
    engine = Engine(1)
    take(engine, batches, lost, failed=None)
    expected = judge(batches)
    assert expected.duplicates > 10
    assert_equal(engine, expected)
    assert pruned_in_log(engine, "paymentAmount", "beneficiaryId") == 0
    assert pruned_in_log(engine, "paymentType", "beneficiaryId") > pruned_in_log(
        engine, "beneficiaryId", "beneficiaryId"
    )


def filled(engine: Engine, rules: Iterable[Draft]) -> None:
    """Two hours of payments, 60 a minute, each to a beneficiary of its own."""
    registry = Registry()
    events = [registry.publish(number, each, 0, 0) for number, each in enumerate(rules, start=1)]
    engine.take(batch(events=events, ticks=[T]))
    for minute in range(120):
        at, first = T + minute * MINUTE, 60 * minute
        records = [
            payment(first + n, at + n, f"{n}.5", more={"payeeId": n % 4, "beneficiaryId": f"b{first + n}"})
            for n in range(60)
        ]
        engine.take(batch(ticks=[at], records=records))


def test_texts_and_columns_that_nobody_can_see_are_not_held() -> None:
    every = draft("SUM", ">", "1e9", by=("payeeId", "beneficiaryId", "paymentType"), seconds=DAY_SECONDS)
    few, all_of_them = Engine(1), Engine(1)
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


def rows(start: int, count: int) -> TransactionBatch:
    numbers = range(start, start + count)
    columns = {
        "eventTime": np.arange(start, start + count),
        "recordTime": np.arange(start, start + count),
        "transactionId": [f"t{n}" for n in numbers],
        "ingestionTimestamp": list(numbers),
        "payeeId": ["p"] * count,
        "beneficiaryId": [f"b{n}" for n in numbers],
        "paymentType": ["CSH"] * count,
        "paymentAmount": [Decimal(n) for n in numbers],
    }
    schema = segment_schema(TRANSACTION)
    return TransactionBatch.of(
        pa.table([pa.array(columns[f.name], f.type) for f in schema], schema=schema),
        TRANSACTION,
    )


def pruned_all(history: History, field: str, floor: int) -> None:
    for _ in range(history.end // histories._PIECE + 1):
        history.prune(field, floor)


def test_pages_of_mapped_files_are_given_back(tmp_path: Path) -> None:
    arena = MappedArena(tmp_path)
    history = History(arena, "payeeId", TRANSACTION, HashKey(1, 2))
    for start in range(0, 200_000, 50_000):
        history.append(rows(start, 50_000))
    path = tmp_path / "payeeId.code.beneficiaryId"
    size, held = path.stat().st_size, path.stat().st_blocks * 512
    for field in ("beneficiaryId", "ingestionTimestamp", "paymentAmount"):
        pruned_all(history, field, 150_000)
    assert history.values["beneficiaryId"].used == 50_000
    assert path.stat().st_size == size
    if not history.released_bytes:
        pytest.skip("this file system makes no holes")
    given = whole_pages(150_000 * 4) + whole_pages(150_000 * 8) + 2 * whole_pages(150_000 * 8)
    assert given - 4 * (1 << 16) <= history.released_bytes <= given
    os.sync()
    assert path.stat().st_blocks * 512 <= held - whole_pages(150_000 * 4) + (1 << 16)
    assert history.value("beneficiaryId", 150_000) == "b150000"
    assert history.value("paymentAmount", 199_999) == "199999"
    # another process sees how far it is pruned
    other = History(MappedArena(tmp_path), "payeeId", TRANSACTION, HashKey(1, 2))
    assert other.released_bytes == history.released_bytes
    other.restore({"beneficiaryId", "paymentAmount", "ingestionTimestamp"})
    assert history.released_bytes == other.released_bytes == 0
    assert (other.codes("beneficiaryId")[:150_000] == -1).all()
    assert other.partial(149_999, {"beneficiaryId", "ingestionTimestamp"}) == {
        "transactionId": "t149999",
        "beneficiaryId": None,
        "ingestionTimestamp": None,
    }
    assert other.partial(150_000, {"beneficiaryId", "ingestionTimestamp"}) == {
        "transactionId": "t150000",
        "beneficiaryId": "b150000",
        "ingestionTimestamp": 150_000,
    }


def test_rows_that_go_leave_no_memory_behind(tmp_path: Path) -> None:
    history = History(MappedArena(tmp_path), "payeeId", TRANSACTION, HashKey(1, 2))
    # each file ends within a page, and has one more before what is retained
    first, later, edges = 100_000, 60_000, 2 * len(list(tmp_path.iterdir())) * mmap.PAGESIZE
    history.append(rows(0, first))
    os.sync()
    whole = on_disk(tmp_path)
    history.drop(5_000)
    assert history.released_bytes == 0  # it would not be worth while
    history.drop(later)
    if not history.released_bytes:
        pytest.skip("this file system makes no holes")
    os.sync()
    assert on_disk(tmp_path) <= whole * (first - later) / first + edges
    assert history.ids(np.array([later, first - 1])) == [f"t{later}", f"t{first - 1}"]
    # another process sees how much of it has gone
    other = History(MappedArena(tmp_path), "payeeId", TRANSACTION, HashKey(1, 2))
    assert other.released_bytes == history.released_bytes
    assert whole - on_disk(tmp_path) <= history.released_bytes + edges
    assert other.compact() == later
    os.sync()
    # neither before what has moved down nor behind it
    assert other.released_bytes == 0
    assert on_disk(tmp_path) <= whole * (first - later) / first + edges
    kept = first - later
    assert other.ids(np.array([0, kept - 1])) == [f"t{later}", f"t{first - 1}"]
    assert list(other.time[[0, kept - 1]]) == [later, first - 1]
    other.append(rows(first, 30_000))
    assert other.ids(np.array([kept, kept + 29_999])) == [f"t{first}", f"t{first + 29_999}"]
    assert other.value("beneficiaryId", kept - 1) == f"b{first - 1}"
    assert other.value("paymentAmount", kept) == str(first)


def on_disk(folder: Path) -> int:
    """Bytes that the history's own files take there, but for its tables of texts."""
    return sum(path.stat().st_blocks * 512 for path in folder.iterdir() if ".values." not in path.name)


def test_where_nothing_can_be_given_back_nothing_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arenas, "_REMOVE", -1)
    history = History(MappedArena(tmp_path), "payeeId", TRANSACTION, HashKey(1, 2))
    history.append(rows(0, 30_000))
    history.drop(20_000)
    assert history.released_bytes == 0
    assert history.compact() == 20_000
    assert history.ids(np.array([0, 9_999])) == ["t20000", "t29999"]


@pytest.mark.parametrize("floor", [1_500, 4_500])
def test_rows_move_down_and_go_without_what_was_pruned(floor: int, tmp_path: Path) -> None:
    history = History(MappedArena(tmp_path), "payeeId", TRANSACTION, HashKey(1, 2))
    history.append(rows(0, 5_000))
    pruned_all(history, "beneficiaryId", floor)
    pruned_all(history, "paymentAmount", floor)
    assert history.values["beneficiaryId"].used == 5_000 - floor
    history.drop(3_000)
    assert history.values["beneficiaryId"].used == min(2_000, 5_000 - floor)
    assert history.compact() == 3_000
    shown = [history.value("paymentAmount", row) for row in (1_999, 1_600)]
    assert shown == ["4999", "4600"]
    assert history.value("beneficiaryId", 1_999) == "b4999"
    history.append(rows(5_000, 3_000))
    history.restore({"beneficiaryId"})
    first = max(floor - 3_000, 0)
    codes = history.codes("beneficiaryId")
    assert (codes[:first] == -1).all()
    assert (codes[first : history.end] >= 0).all()
    assert history.value("beneficiaryId", first) == f"b{first + 3_000}"
    history.drop(history.end)
    assert history.values["beneficiaryId"].used == 0


def test_a_field_that_is_pruned_again_after_it_was_named_is_released_once(tmp_path: Path) -> None:
    history = History(MappedArena(tmp_path), "payeeId", TRANSACTION, HashKey(1, 2))
    history.append(rows(0, 1_000))
    history.prune("beneficiaryId", 500)
    history.restore({"beneficiaryId"})
    history.prune("beneficiaryId", 700)
    assert history.values["beneficiaryId"].used == 300
    history.drop(800)
    assert history.values["beneficiaryId"].used == 200


def test_fields_that_are_not_declared_do_not_cross_the_shuffle() -> None:
    engine = Engine(2)
    bare = [payment(n, T + n, more={"payeeId": n}) for n in range(50)]
    more = [
        payment(n, T + n, more={"payeeId": n, "iban": "x" * 1_000, "z": {"y": [1] * 99}}) for n in range(50)
    ]
    crossed = [
        [
            p.data
            for shard in engine.payloads(batch(records=each))
            for p in shard
            if p.kind == Kind.TRANSACTIONS
        ]
        for each in (bare, more)
    ]
    assert crossed[0] == crossed[1]
    assert len(crossed[0]) == 2
