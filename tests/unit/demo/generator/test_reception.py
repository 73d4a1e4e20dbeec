"""What the engine made of a replay, counted from its own words and from the log."""

from __future__ import annotations

import io
import json

import pytest

from tests.unit.demo.generator.fakes import FakeEngine, FakeOutlet, FakeTime
from tripline_contracts import event_type_loader
from tripline_demo.generator.output.outlet import Record
from tripline_demo.generator.recordings.reception import Judged, Receptionist, Stored, identity_of, play
from tripline_demo.generator.recordings.recording import lines_of, opened
from tripline_demo.generator.recordings.replay import Order, Reception, Replay, source_of

TRANSACTION = event_type_loader.load()
OURS = source_of("me")
MINUTE = 60_000


def stored(
    offset: int, identity: str, *, time: int = 0, payer: object = "25", source: str = OURS, partition: int = 0
) -> Stored:
    value = json.dumps({"transactionId": identity, "payeeId": payer, "beneficiaryId": 12})
    return Stored(partition, offset, time, value.encode(), source.encode())


def received(records: list[Stored], judged: Judged) -> Reception:
    receptionist = Receptionist(OURS, judged, TRANSACTION)
    for record in records:
        receptionist.see(record)
    return receptionist.reception()


ALL = Judged({0: 100, 1: 100}, {})


def test_what_comes_again_is_known_whoever_sent_it_first() -> None:
    records = [stored(0, "a", source="/x"), stored(1, "a"), stored(2, "b"), stored(3, "b"), stored(4, "c")]
    assert received(records, ALL) == Reception(taken=2, known=2, refused={}, waiting=0)


def test_beyond_the_reach_of_deduplication_it_is_taken_again() -> None:
    records = [stored(0, "a"), stored(1, "a", time=15 * MINUTE), stored(2, "a", time=15 * MINUTE + 1)]
    assert received(records, ALL) == Reception(2, 1, {}, 0)
    assert received(records, Judged({0: 100}, {}, reach_ms=MINUTE)) == Reception(2, 1, {}, 0)


def test_an_id_under_another_value_of_the_anchor_is_another() -> None:
    assert received([stored(0, "a"), stored(1, "a", payer="26")], ALL) == Reception(2, 0, {}, 0)
    # a number and its text are one value, and an alias is the field
    assert received([stored(0, "a"), stored(1, "a", payer=25)], ALL) == Reception(1, 1, {}, 0)


@pytest.mark.parametrize("payer", [None, ""])
def test_where_the_first_anchor_is_null_the_next_one_counts(payer: object) -> None:
    assert received([stored(0, "a", payer=payer), stored(1, "a", payer=payer)], ALL) == Reception(1, 1, {}, 0)
    assert received([stored(0, "a"), stored(1, "a", payer=payer)], ALL) == Reception(2, 0, {}, 0)


def test_what_is_refused_is_neither_taken_nor_known_afterwards() -> None:
    judged = Judged({0: 100}, {(0, 0): "too_late", (0, 2): "too_late", (0, 3): "unreadable"})
    records = [stored(0, "a"), stored(1, "a"), stored(2, "b", source="/x"), stored(3, "c")]
    assert received(records, judged) == Reception(1, 0, {"too_late": 1, "unreadable": 1}, 0)


def test_what_is_not_judged_yet_waits() -> None:
    records = [stored(0, "a"), stored(1, "b"), stored(0, "c", partition=1), stored(2, "d", source="/x")]
    assert received(records, Judged({0: 1}, {})) == Reception(1, 0, {}, 2)


@pytest.mark.parametrize("value", [b"", b"{", b"[]", b"\xff", b'{"a":1,"a":2}'])
def test_what_is_no_transaction_has_no_identity(value: bytes) -> None:
    assert identity_of(value, TRANSACTION) is None


def played(engine: FakeEngine, content: bytes) -> tuple[Replay, list[Record]]:
    time, outlet = FakeTime(), FakeOutlet()
    replay = Replay(Order(None, "none", source=OURS), TRANSACTION, outlet, time.wall, time.wait)
    play(replay, lines_of(opened(io.BytesIO(content), TRANSACTION), TRANSACTION), OURS, engine)
    return replay, outlet.records


CSV = b"a,2021-06-01 12:00:01,25,12,CSH,600\nb,2021-06-01 12:00:00,25,12,CSH,600\n"


def test_a_replay_asks_for_its_own_records_since_the_earliest() -> None:
    engine = FakeEngine(Reception(1, 1, {}, 0))
    replay, records = played(engine, CSV)
    assert replay.progress.engine == Reception(1, 1, {}, 0)
    assert engine.asked == [(OURS, 1_622_548_800_000)]
    assert {dict(record.headers)["ce_source"] for record in records} == {OURS.encode()}


def test_why_it_cannot_be_said_is_said_and_stops_no_replay() -> None:
    replay, records = played(FakeEngine("engine-order.v1: no right"), CSV)
    assert (replay.progress.state, len(records)) == ("finished", 2)
    assert replay.progress.engine == "engine-order.v1: no right"


def test_of_nothing_there_is_nothing_to_ask() -> None:
    engine = FakeEngine()
    replay, _ = played(engine, b"x\n")
    assert replay.progress.engine == Reception(0, 0, {}, 0)
    assert engine.asked == []
