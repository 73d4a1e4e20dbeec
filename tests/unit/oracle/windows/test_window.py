"""Both ends of the window are in; equal transactions are all in; the order is the engine's."""

from __future__ import annotations

from tests.oracle import Record
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.judgement.record_order import engine_order
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
EVERY = Registry().publish(1, draft("COUNT", ">=", "1", by=("payeeId",), seconds=60), 0, 0)


def counts(*records: Record) -> list[object]:
    return [alert["value"] for alert in judge([batch(events=[EVERY], records=records)]).alerts]


def test_exactly_one_window_back_is_in() -> None:
    assert counts(payment(1, T), payment(2, T + 60_000)) == ["1", "2"]


def test_one_millisecond_further_back_is_out() -> None:
    assert counts(payment(1, T), payment(2, T + 60_001)) == ["1", "1"]


def test_a_later_event_time_accepted_earlier_is_out() -> None:
    assert counts(payment(1, T + 1), payment(2, T, record_time=T + 1)) == ["1", "1"]


def test_equal_in_all_but_the_id_are_different_transactions() -> None:
    assert counts(payment(1, T), payment(2, T), payment(3, T)) == ["1", "2", "3"]


def test_null_group_value_is_not_evaluated() -> None:
    outcome = judge([batch(events=[EVERY], records=[payment(1, T, more={"payeeId": None})])])
    assert (outcome.alerts, outcome.null_groups) == ([], 1)


def test_integer_and_text_ids_and_the_alias_are_one_group() -> None:
    alias = payment(3, T, more={"payeeId": None, "payerId": "25"})
    assert counts(payment(1, T), payment(2, T, more={"payeeId": "25"}), alias) == ["1", "2", "3"]


def test_the_empty_grouping_is_one_global_group() -> None:
    everyone = Registry().publish(1, draft("COUNT", ">=", "1", by=(), seconds=60), 0, 0)
    records = [payment(1, T), payment(2, T, more={"payeeId": None, "beneficiaryId": None})]
    alerts = judge([batch(events=[everyone], records=records)]).alerts
    assert [(alert["value"], alert["group"]) for alert in alerts] == [("1", {}), ("2", {})]


def test_order_is_by_running_maximum_then_partition_then_offset() -> None:
    records = [
        Record(1, 0, 50, None),
        Record(0, 0, 100, None),
        Record(0, 1, 40, None),
        Record(1, 1, 100, None),
        Record(1, 2, 90, None),
    ]
    assert [(record.partition, record.offset) for record in engine_order(records)] == [
        (1, 0),
        (0, 0),
        (0, 1),
        (1, 1),
        (1, 2),
    ]


def test_records_that_are_rejected_still_raise_the_running_maximum() -> None:
    broken = Record(0, 1, T + 100, b"{")
    behind = payment(2, T)
    other = payment(1, T + 50, partition=1)
    outcome = judge([batch(events=[EVERY], records=[broken, behind, other])])
    assert [alert["windowEnd"] for alert in outcome.alerts] == [T + 50, T]
