from __future__ import annotations

import io
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.demo.generator.fakes import FakeOutlet, FakeTime
from tripline_contracts import event_type_loader
from tripline_contracts.errors import UnreadableFile
from tripline_contracts.recordings.file_mapping import Format
from tripline_contracts.recordings.lines import MAX_LINE_BYTES, split
from tripline_demo.generator.output.outlet import Failures
from tripline_demo.generator.recordings.recording import BadLine, Line, lines_of, opened
from tripline_demo.generator.recordings.replay import MAX_LISTED, Order, Replay

TRANSACTION = event_type_loader.load()
START = 1_763_700_000_000


def csv(*rows: str) -> list[Line | BadLine]:
    return read_lines([row.encode() for row in rows], "csv")


def read_lines(lines: list[bytes], form: Format) -> list[Line | BadLine]:
    file = io.BytesIO(b"".join(line + b"\n" for line in lines))
    return list(lines_of(opened(file, TRANSACTION, form=form), TRANSACTION))


def at(time_: str, identity: str = "t") -> str:
    return f"{identity},2021-06-01 {time_},25,12,CSH,600"


def good(items: list[Line | BadLine]) -> list[Line]:
    return [item for item in items if isinstance(item, Line)]


def test_a_line_of_csv() -> None:
    (line,) = good(csv("t1,2021-06-01 12:00:00,25,,CRD,1e3,2021-06-01 12:00:01\r"))
    assert line.transaction == {
        "transactionId": "t1", "eventTime": 1_622_548_800_000, "payeeId": "25", "beneficiaryId": None,
        "paymentAmount": "1000", "paymentType": "CRD", "ingestionTimestamp": 1_622_548_801_000,
    }  # fmt: skip


@pytest.mark.parametrize(
    "header",
    [
        "transactionId,eventTime,payeeId,beneficiaryId,paymentType,paymentAmount",
        '\ufeff"transactionId", eventTime,payeeId, beneficiaryId,PAYMENTTYPE,paymentAmount',
    ],
)
def test_a_header_is_passed_over_once_and_at_the_top_only(header: str) -> None:
    items = csv(header, at("12:00:00"), "", header)
    assert [type(item) for item in items] == [Line, BadLine]
    assert [item.line for item in items] == [2, 4]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("t1,2021-06-01 12:00:00,25,12,CSH", "found 5"),
        ("t1,2021-06-01 12:00:00,25,12,CSH,1,2,3", "found 8"),
        ("t1,2021-06-01T12:00:00,25,12,CSH,1", "eventTime: 2021-06-01 12:00:00 has no zone"),
        ("t1,2021-02-30 12:00:00,25,12,CSH,1", "eventTime"),
        ("t1,1969-12-31 23:59:59,25,12,CSH,1", "eventTime"),
        (",2021-06-01 12:00:00,25,12,CSH,1", "transactionId: required"),
        ("t1,2021-06-01 12:00:00,25,12,CSH,1,soon", "ingestionTimestamp"),
        ('t1,2021-06-01 12:00:00,"25,12,CSH,1', "not CSV"),
        ("t1,2021-06-01 12:00:00,25,12,CSH,1" + "0" * MAX_LINE_BYTES, "longer than"),
    ],
)
def test_a_bad_line_says_why_and_costs_itself_alone(row: str, reason: str) -> None:
    first, bad, last = csv(at("12:00:00"), row, at("12:00:01"))
    assert isinstance(bad, BadLine)
    assert reason in bad.reason
    assert (first.line, bad.line, last.line) == (1, 2, 3)
    assert len(good([first, last])) == 2


def test_lines_of_json() -> None:
    raw = [
        b'{"transactionId":1,"eventTime":5,"paymentAmount":1.10,"paymentType":"CSH"}',
        b"{",
        b"[]",
        b"\xff",
    ]
    items = read_lines(raw, "json-lines")
    assert [type(item) for item in items] == [Line, BadLine, BadLine, BadLine]
    assert good(items)[0].transaction["paymentAmount"] == "1.1"


@given(st.binary(max_size=200), st.sampled_from([None, "csv", "json-lines", "json-array"]))
def test_any_bytes_are_read_or_refused(raw: bytes, form: Format | None) -> None:
    with suppress(UnreadableFile):
        for item in lines_of(opened(io.BytesIO(raw), TRANSACTION, form=form), TRANSACTION):
            assert 1 <= item.line <= len(raw) + 1


def test_a_line_that_is_too_long_is_not_held_in_memory() -> None:
    file = io.BytesIO(b"a\n" + b"x" * (3 * MAX_LINE_BYTES) + b"\nb\n" + b"y" * (MAX_LINE_BYTES + 5))
    assert [len(line) for line in split(file)] == [2, MAX_LINE_BYTES + 1, 2, MAX_LINE_BYTES + 1]


class Rig:
    """A replay on fakes."""

    def __init__(self, order: Order, outlet: FakeOutlet | None = None) -> None:
        self.time, self.outlet = FakeTime(START), outlet or FakeOutlet()
        self.replay = Replay(order, TRANSACTION, self.outlet, self.time.wall, self.time.wait)

    def times(self) -> list[int]:
        """Record times, which are the event times."""
        times = [record.time for record in self.outlet.records]
        assert times == [json.loads(record.value)["eventTime"] for record in self.outlet.records]
        return times


def test_the_first_line_is_moved_to_now_and_distances_stay() -> None:
    rig = Rig(Order(speed=None))
    rig.replay.run(csv(at("12:00:00"), at("12:10:00"), at("12:05:00"), at("11:59:00")))
    assert rig.times() == [START, START + 600_000, START + 300_000, START - 60_000]
    assert {json.loads(record.value)["ingestionTimestamp"] for record in rig.outlet.records} == {START}
    assert (rig.replay.progress.state, rig.replay.progress.sent) == ("finished", 4)
    assert sum(rig.time.waits) == 0


def test_without_a_shift_times_stay() -> None:
    rig = Rig(Order(speed=None, shift="none"))
    rig.replay.run(csv(at("12:00:00")))
    assert rig.times() == [1_622_548_800_000]
    assert json.loads(rig.outlet.records[0].value)["ingestionTimestamp"] is None


def test_new_ids_are_others_in_each_replay_and_equal_ones_stay_equal() -> None:
    sent = []
    for run in ("first", "second"):
        rig = Rig(Order(speed=None, new_ids=run))
        rig.replay.run(csv(at("12:00:00", "a"), at("12:00:01", "b"), at("12:00:02", "a")))
        for record in rig.outlet.records:
            assert dict(record.headers)["ce_id"].decode() == json.loads(record.value)["transactionId"]
        sent.append([json.loads(record.value)["transactionId"] for record in rig.outlet.records])
    assert [len(set(ids)) for ids in sent] == [2, 2]
    assert all(ids[0] == ids[2] for ids in sent)
    assert not {"a", "b"} & {*sent[0], *sent[1]}
    assert not set(sent[0]) & set(sent[1])


def test_lines_of_a_backfill_say_so_and_no_others() -> None:
    backfill_id = "7f0c52a2-3a86-4c8e-8d9a-5d1e7c1b2a04"
    for order, said in ((Order(None, "none", backfill_id), backfill_id.encode()), (Order(None), None)):
        rig = Rig(order)
        rig.replay.run(csv(at("12:00:00"), at("12:00:01")))
        assert [dict(record.headers).get("backfill") for record in rig.outlet.records] == [said, said]
        assert {"ce_id", "ce_type"} <= dict(rig.outlet.records[0].headers).keys()


@pytest.mark.parametrize(("speed", "seconds"), [(1.0, 60.0), (10.0, 6.0), (0.5, 120.0)])
def test_the_speed_is_that_of_sending(speed: float, seconds: float) -> None:
    rig = Rig(Order(speed=speed))
    rig.replay.run(csv(at("12:00:00"), at("12:00:30"), at("12:01:00")))
    assert sum(rig.time.waits) == pytest.approx(seconds)
    assert rig.times()[-1] == START + 60_000


def test_bad_lines_are_counted_and_listed_up_to_a_limit() -> None:
    rig = Rig(Order(speed=None))
    rig.replay.run(csv(*["x"] * (MAX_LISTED + 5), at("12:00:00")))
    progress = rig.replay.progress
    assert (progress.bad, len(progress.bad_lines), progress.sent) == (MAX_LISTED + 5, MAX_LISTED, 1)
    assert progress.bad_lines[0].line == 1


def test_a_shift_out_of_range_is_a_bad_line() -> None:
    rig = Rig(Order(speed=None))
    rig.replay.run(csv(at("12:00:00"), "t,9999-12-31 00:00:00,25,12,CSH,1", at("12:00:01")))
    assert [bad.line for bad in rig.replay.progress.bad_lines] == [2]
    assert rig.replay.progress.sent == 2


def test_a_full_queue_is_waited_for() -> None:
    rig = Rig(Order(speed=None), FakeOutlet(room=1))
    rig.replay.run(csv(*[at("12:00:00", f"t{n}") for n in range(5)]))
    assert [json.loads(record.value)["transactionId"] for record in rig.outlet.records] == [
        f"t{n}" for n in range(5)
    ]


def test_what_kafka_did_not_take_is_told() -> None:
    rig = Rig(Order(speed=None), FakeOutlet(refused=Failures(1, "timestamp out of range"), unconfirmed=2))
    rig.replay.run(csv(at("12:00:00"), at("12:00:00"), at("12:00:01")))
    assert (rig.replay.progress.failed, rig.replay.progress.latest_failure) == (3, "not confirmed in time")


def test_it_can_be_stopped() -> None:
    outlet = FakeOutlet()
    replay = Replay(Order(), TRANSACTION, outlet, lambda: START, lambda _: len(outlet.records) == 1)
    replay.run(csv(at("12:00:00"), at("13:00:00"), at("14:00:00")))
    assert (replay.progress.state, replay.progress.sent) == ("stopped", 1)


def test_an_unforeseen_error_shows_in_the_state() -> None:
    class Bad(FakeOutlet):
        def flush(self, timeout: float) -> int:
            raise OSError(timeout)

    rig = Rig(Order(), Bad())
    with pytest.raises(OSError):
        rig.replay.run(csv(at("12:00:00")))
    assert rig.replay.progress.state == "failed"
