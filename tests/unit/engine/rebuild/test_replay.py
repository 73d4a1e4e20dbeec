"""An engine that is rebuilt in the middle of a history goes on as if nothing had happened.

The live engine takes a random history; of what it has read and recorded up to some micro-batch another one is built,
with as many shards or with another number, from topics and archive. Both take the rest.
"""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import structlog

from tests.in_parts import in_parts
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.generators.profile import EVERYTHING, EVERYTHING_AND_MORE, THE_WHOLE_LANGUAGE
from tests.oracle.histories.random_history import random_history
from tests.oracle.histories.seeds import seeds
from tests.oracle.values.model import MicroBatch
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.rebuild.support.recorded_run import Recording
from tests.unit.engine.support.shard_harness import TRANSACTION, DictLog, Engine, config
from tripline_contracts.filters import time_zones
from tripline_engine.domain.shard.ports import Kind, OutRecord
from tripline_engine.domain.state_log.head import Head
from tripline_engine.errors import OrderBroken, RecordsMissing
from tripline_engine.rebuild.plan import plan
from tripline_engine.rebuild.progress import Progress
from tripline_engine.rebuild.recorded_order import order_of
from tripline_engine.rebuild.replay import replay
from tripline_engine.rebuild.shards import Shards
from tripline_engine.spark.checkpoint.state_file import read_state, write_state
from tripline_engine.topic_names import ORDER, TICKS, TRANSACTIONS

TOLD = ("alerts.v1", "rejected-transactions.v1", "rule-traces.v1")


def rebuilt(recording: Recording, shards: int) -> tuple[Shards, list[OutRecord]]:
    journals = recording.journals
    survey, available = plan(journals, TRANSACTION, None)
    return replay(journals, survey, available, config(shards), lambda: 0, Progress(lambda: 0.0, 0))


def engine_of(state: Shards, shards: int, folder: Path, offsets: dict[Kind, int]) -> Engine:
    """By way of the files that the query loads."""
    engine = Engine(shards)
    for shard in range(shards):
        write_state(folder / f"{shard}", state.state(shard))
        log = DictLog()
        for key, data in read_state(folder / f"{shard}"):
            log.put(key, data)
        log.commit()
        engine.logs[shard] = log
    engine._offsets = dict(offsets)
    return engine


def told(records: Iterable[OutRecord]) -> Counter[tuple[str, bytes | None, bytes]]:
    """What does not depend on the number of shards."""
    return Counter((record.topic, record.key, record.value) for record in records if record.topic in TOLD)


def some_cuts(rng: Random, count: int) -> list[int]:
    inner = rng.sample(range(1, count), min(count - 1, 4)) if count > 1 else []
    return sorted({*inner, *([count] if count and rng.random() < 0.5 else [])})


@in_parts(5, with_soak=40)
@pytest.mark.slow
def test_what_follows_is_the_same(histories: range, record_property: Callable[[str, object], None]) -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    seen: Counter[str] = Counter()

    def equal(seed: int, shards: tuple[int, int], share: float) -> None:
        batches = random_history(seed, (EVERYTHING_AND_MORE, THE_WHOLE_LANGUAGE)[seed % 2])
        before, after = shards
        cut = max(1, int(len(batches) * share))
        live = Engine(before)
        live.run(batches[:cut])
        rng, so_far = Random(seed), len(live.out)
        last = told_of_the_last(live, batches[:cut], before)
        with tempfile.TemporaryDirectory() as folder:
            recording = Recording(batches[:cut], live.out, Path(folder))
            for name in (TRANSACTIONS, TICKS, ORDER):
                for partition, kept in recording.topics[name].kept.items():
                    recording.archive(name, partition, some_cuts(rng, len(kept)))
            state, said = rebuilt(recording, after)
            assert told(said) == last
            other = engine_of(state, after, Path(folder), live._offsets)
        live.run(batches[cut:])
        other.run(batches[cut:])
        assert told(other.out) == told(live.out[so_far:])
        assert sequences(other.out) == sequences(live.out[so_far:])
        assert other.statuses() == statuses_since(live, so_far, before)
        seen["histories"] += 1
        seen["of parties after it"] += any(b'"side"' in record.value for record in other.out)
        seen["with alerts after it"] += any(record.topic == "alerts.v1" for record in other.out)

    for seed, draw in seeds(histories):
        equal(seed, draw.choice([(1, 1), (2, 2), (1, 2), (2, 1), (3, 1)]), draw.uniform(0.2, 0.9))
    record_property("told", f"{dict(seen)}")
    assert seen["with alerts after it"] >= 0.5 * seen["histories"]
    assert seen["of parties after it"] > 0


def told_of_the_last(
    live: Engine, batches: list[MicroBatch], shards: int
) -> Counter[tuple[str, bytes | None, bytes]]:
    """What the live engine said of its last micro-batch."""
    again = Engine(shards)
    again.run(batches[:-1])
    return told(live.out[len(again.out) :])


def sequences(records: Iterable[OutRecord]) -> list[bytes]:
    """The order's records but for the number of shards."""
    return [record.value.partition(b'"shards":')[0] for record in records if record.topic == ORDER]


def statuses_since(live: Engine, start: int, shards: int) -> list[dict[str, object]]:
    since = Engine(shards)
    since.out = live.out[start:]
    return since.statuses()


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    batches = random_history(7, replace(EVERYTHING, micro_batches=(9, 9)))
    live = Engine(2)
    live.run(batches)
    return Recording(batches, live.out, tmp_path)


def test_a_repeated_record_of_the_order_changes_nothing(recording: Recording) -> None:
    kept = recording.topics[ORDER].kept[0]
    once = rebuilt(recording, 2)[1]
    kept.insert(3, kept[2])
    kept.append(kept[-1])
    recording.renumber(ORDER)
    assert told(rebuilt(recording, 2)[1]) == told(once)


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        (
            slice(4, 5),
            r"offset 4: micro-batch 6 of engine engine-under-test follows micro-batch 4: what is between",
        ),
        (slice(0, 1), r"offset 0: micro-batch 2 of engine engine-under-test follows micro-batch 0"),
    ],
    ids=["in the middle", "the first"],
)
def test_a_gap_in_the_order_is_refused(recording: Recording, lost: slice, said: str) -> None:
    del recording.topics[ORDER].kept[0][lost]
    recording.renumber(ORDER)
    with pytest.raises(OrderBroken, match=said):
        rebuilt(recording, 2)


def test_an_order_that_says_two_things_is_refused(recording: Recording) -> None:
    kept = recording.topics[ORDER].kept[0]
    other = (kept[3].value or b"").replace(b'"sequence":4', b'"sequence":3')
    kept.insert(3, replace(kept[3], value=other))
    recording.renumber(ORDER)
    with pytest.raises(OrderBroken, match="says something else of micro-batch 3"):
        rebuilt(recording, 2)


def test_other_time_zone_data_than_it_was_judged_with_is_told(recording: Recording) -> None:
    kept = recording.topics[ORDER].kept[0]
    installed = f'"timeZones":"{time_zones.VERSION}"'.encode()
    assert all(installed in (record.value or b"") for record in kept)
    for i in (3, 4):
        other = (kept[i].value or b"").replace(installed, b'"timeZones":"1999.1"')
        kept[i] = replace(kept[i], value=other)
    kept[5] = replace(kept[5], value=(kept[5].value or b"").replace(installed + b",", b""))
    with structlog.testing.capture_logs() as logs:
        assert len(list(order_of("engine-under-test", kept))) == len(kept)
    [warning] = [line for line in logs if line["event"] == "time_zones_differ"]
    assert (warning["recorded"], warning["installed"]) == ("1999.1", time_zones.VERSION)


def an_hour() -> list[MicroBatch]:
    """A micro-batch a minute: a tick, two payments, 40 s apart; a window of a minute holds three of them."""
    rule = Registry().publish(1, draft("COUNT", ">=", "3", seconds=60), 0, START)
    batches = [batch(events=[rule])]
    for minute in range(60):
        now = START + minute * 60_000
        times = [now, now + 40_000]
        records = [payment(2 * minute + n, time) for n, time in enumerate(times)]
        batches.append(batch(ticks=[now], records=records))
    return batches


def test_an_order_of_before_anchors_on_demand_is_replayed(tmp_path: Path) -> None:
    registry = Registry()
    by_payee = draft("COUNT", ">=", "1", by=("payeeId",), seconds=3600)
    first = [batch(ticks=[START], records=[payment(1, START)])]
    first.append(batch(events=[registry.publish(1, by_payee, START, START)], records=[payment(2, START + 1)]))
    later = [batch(records=[payment(3, START + 2)])]
    live = Engine(2)
    live.config = replace(live.config, anchors_on_demand=False)
    live.run(first)
    live.config = replace(live.config, anchors_on_demand=True)
    live.run(later)
    # the engine of before had kept the first one without any rule
    assert [alert["value"] for alert in live.alerts()] == ["1", "2", "3"]
    state, _ = rebuilt(Recording([*first, *later], live.out, tmp_path), 2)
    other = engine_of(state, 2, tmp_path, live._offsets)
    last = batch(records=[payment(4, START + 3)])
    assert [alert["value"] for alert in other.run([last])] == ["4"]
    rows = [len_of(log, anchor) for log in other.logs for anchor in ("beneficiaryId", "global")]
    assert rows == [0, 0, 0, 0]


def len_of(log: DictLog, anchor: str) -> int:
    return Head.read(log, TRANSACTION).anchors[anchor].rows


@pytest.mark.parametrize(
    ("gone", "reason"),
    [
        (76, "two windows and all that may be late, disordered or ahead begin at minute 37"),
        (121, "what comes after the last micro-batch is gone too"),
    ],
)
def test_what_is_needed_and_nobody_has_is_refused_before_anything_is_judged(gone: int, reason: str) -> None:
    live = Engine(1)
    live.run(an_hour())
    recording = Recording(an_hour(), live.out)
    recording.topics[TRANSACTIONS].low[0] = gone
    with pytest.raises(RecordsMissing, match=r"transactions\.v1 partition 0"):
        plan(recording.journals, TRANSACTION, None)


def test_what_no_window_holds_any_more_may_be_gone(tmp_path: Path) -> None:
    batches = an_hour()
    live = Engine(1)
    live.run(batches[:58])
    recording, so_far = Recording(batches[:58], live.out), len(live.out)
    # micro-batch 31 is cut: a day's folder ends where it likes
    recording.topics[TRANSACTIONS].low[0] = 61
    state, said = rebuilt(recording, 1)
    assert said
    other = engine_of(state, 1, tmp_path, live._offsets)
    live.run(batches[58:])
    other.run(batches[58:])
    assert told(other.out) == told(live.out[so_far:]) != Counter()
    assert sequences(other.out) == sequences(live.out[so_far:])
    assert other.history_rows() == live.history_rows()


def test_other_transactions_at_the_same_offsets_are_refused(recording: Recording) -> None:
    kept = recording.topics[TRANSACTIONS].kept[0]
    kept[:] = [replace(record, timestamp=record.timestamp + 1) for record in kept]
    with pytest.raises(OrderBroken, match="these are not the transactions that were judged"):
        rebuilt(recording, 2)
