"""Section 9 of the specification, line by line."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.oracle import Record
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.unit.oracle.support.agreement import judge


def millis(clock: str) -> int:
    moment = datetime.fromisoformat(f"2026-01-05T{clock}").replace(tzinfo=UTC)
    return int(moment.timestamp()) * 1000


LINES = [
    payment(1, millis("12:00:00"), "600"),
    payment(2, millis("12:10:00"), "400"),
    payment(3, millis("12:20:00"), "0.01"),
    payment(4, millis("12:20:01"), "1"),
    payment(5, millis("12:15:00"), "500", record_time=millis("12:20:01")),
    payment(6, millis("12:20:02"), "9999", more={"beneficiaryId": 99}),
]


def sums(lines: list[Record]) -> dict[object, object]:
    everything = draft(operator=">=", limit="0")
    events = [Registry().publish(1, everything, 0, 0)]
    return {
        alert["windowEnd"]: alert["value"] for alert in judge([batch(events=events, records=lines)]).alerts
    }


def test_the_sums_in_the_windows() -> None:
    assert sums(LINES) == {
        millis("12:00:00"): "600",
        millis("12:10:00"): "1000",
        millis("12:20:00"): "1000.01",
        millis("12:20:01"): "401.01",
        millis("12:15:00"): "1500",
        millis("12:20:02"): "9999",
    }


def test_the_alerts() -> None:
    outcome = judge([batch(events=[Registry().publish(1, draft(), 0, 0)], records=LINES)])
    raised = [(alert["transaction"], alert["value"], alert["late"]) for alert in outcome.alerts]
    assert [(transaction["transactionId"], value, late) for transaction, value, late in raised] == [  # type: ignore[index,call-overload]
        ("t3", "1000.01", None),
        ("t5", "1500", {"newestEventTime": millis("12:20:01")}),
        ("t6", "9999", None),
    ]
    assert [alert["group"] for alert in outcome.alerts] == [
        {"beneficiaryId": "12", "payeeId": "25"},
        {"beneficiaryId": "12", "payeeId": "25"},
        {"beneficiaryId": "99", "payeeId": "25"},
    ]
    assert outcome.rejects == []


def test_where_the_micro_batches_are_cut_decides_nothing() -> None:
    events = [Registry().publish(1, draft(), 0, 0)]
    one = judge([batch(events=events, records=LINES)])
    # The order is by record time, so only cuts that keep it are the same history.
    many = judge([batch(events=events), *(batch(records=[line]) for line in LINES)])
    assert one == many
