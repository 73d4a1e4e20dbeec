"""Whose order it is, and what is said while it is gone through."""

from __future__ import annotations

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from tests.oracle.builders.shorthand import batch, payment
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.rebuild.support.recorded_run import Recording
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_engine.errors import CheckpointMismatch, OrderBroken
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.rebuild.plan import plan
from tripline_engine.rebuild.progress import Progress
from tripline_engine.rebuild.survey import survey
from tripline_engine.topic_names import ORDER, TICKS, TRANSACTIONS

BATCHES = [batch(ticks=[START], records=[payment(n, START + n)]) for n in range(3)]


@pytest.fixture
def recording() -> Recording:
    """Two engines, one after the other; both have judged everything, the older one without its last micro-batch."""
    live = Engine(1)
    live.run(BATCHES)
    recording = Recording(BATCHES, live.out)
    kept = recording.topics[ORDER].kept[0]
    older = [replace(r, value=(r.value or b"").replace(b"engine-under-test", b"older")) for r in kept[:2]]
    kept[:0] = [*older, replace(kept[0], value=b"nobody can read this")]
    recording.renumber(ORDER)
    return recording


def test_without_a_name_the_newest_engine_is_meant(recording: Recording) -> None:
    surveyed = survey(recording.journals[ORDER], None, {})
    assert (surveyed.last.engine, surveyed.last.sequence) == ("engine-under-test", 3)
    assert surveyed.judged == {(TICKS, 0): OffsetRange(0, 3), (TRANSACTIONS, 0): OffsetRange(0, 3)}
    assert surveyed.max_record_times == {0: START + 2}


def test_another_one_can_be_named(recording: Recording) -> None:
    surveyed = survey(recording.journals[ORDER], "older", {})
    assert (surveyed.last.engine, surveyed.last.sequence) == ("older", 2)
    assert surveyed.judged == {(TICKS, 0): OffsetRange(0, 2), (TRANSACTIONS, 0): OffsetRange(0, 2)}


def test_an_unknown_one_is_refused_with_those_that_there_are(recording: Recording) -> None:
    with pytest.raises(
        OrderBroken, match="no micro-batch of engine third; there are engine-under-test, older"
    ):
        survey(recording.journals[ORDER], "third", {})


def test_an_order_that_nobody_has_written_is_refused(recording: Recording) -> None:
    recording.topics[ORDER].kept[0].clear()
    with pytest.raises(OrderBroken, match="is empty: no engine has recorded anything"):
        survey(recording.journals[ORDER], None, {})


def test_another_event_type_is_refused(recording: Recording) -> None:
    other = replace(TRANSACTION, name="swipe")
    with pytest.raises(CheckpointMismatch, match=r"judged event type transaction .* this is swipe"):
        plan(recording.journals, other, None)


def test_progress_is_told_every_five_seconds() -> None:
    now = 100.0
    progress = Progress(lambda: now, of_batches=9)
    with capture_logs() as logs:
        for seconds in (1.0, 3.0, 1.5, 2.0, 4.0):
            now += seconds
            progress.batch_done(transactions=110)
    told = [(one["records"], one["of"], one["transactions"], one["transactions_per_second"]) for one in logs]
    assert told == [(3, 9, 330, 60), (5, 9, 550, round(220 / 6))]
    assert progress.seconds == 11.5
