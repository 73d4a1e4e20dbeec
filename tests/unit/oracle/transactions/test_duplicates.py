"""A duplicate is judged per anchor, and only as long as its id is remembered."""

from __future__ import annotations

import pytest

from tests.oracle import Outcome, Record
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.parsers.rule_events import Settings
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
REACH = 15 * 60_000
SAME = {"transactionId": "same"}


def outcome_of(*records: Record, by: tuple[str, ...] = ("payeeId",)) -> Outcome:
    rule = Registry().publish(1, draft("COUNT", ">=", "1", by=by, seconds=86_400), 0, 0)
    return judge([batch(events=[rule], records=records)])


def counts(outcome: Outcome) -> list[object]:
    return [alert["value"] for alert in outcome.alerts]


def test_the_second_of_the_same_counts_nowhere() -> None:
    outcome = outcome_of(payment(1, T, more=SAME), payment(2, T + 1, more=SAME), payment(3, T + 2))
    assert counts(outcome) == ["1", "2"]
    assert outcome.duplicates == 3  # payee, beneficiary, global


def test_another_beneficiary_is_a_duplicate_for_the_payee_only() -> None:
    records = payment(1, T, more=SAME), payment(2, T + 1, more={**SAME, "beneficiaryId": 99})
    assert counts(outcome_of(*records, by=("payeeId",))) == ["1"]
    assert counts(outcome_of(*records, by=("payeeId", "beneficiaryId"))) == ["1"]
    assert counts(outcome_of(*records, by=("beneficiaryId",))) == ["1", "1"]
    assert counts(outcome_of(*records, by=("paymentType",))) == ["1"]
    assert counts(outcome_of(*records, by=())) == ["1"]


@pytest.mark.parametrize(("apart", "expected"), [(REACH, ["1"]), (REACH + 1, ["1", "2"])])
def test_record_times_that_far_apart(apart: int, expected: list[str]) -> None:
    assert counts(outcome_of(payment(1, T, more=SAME), payment(2, T + apart, more=SAME))) == expected


def test_integer_and_text_of_an_id_are_the_same_id() -> None:
    records = payment(1, T, more={"transactionId": 7}), payment(2, T, more={"transactionId": "7"})
    assert counts(outcome_of(*records)) == ["1"]


def test_a_rejected_one_is_not_remembered() -> None:
    rejected = payment(1, T, record_time=T + REACH, more=SAME)
    assert counts(outcome_of(rejected, payment(2, T + REACH, more=SAME))) == ["1"]


@pytest.mark.parametrize(("clock", "expected"), [(T + 3000, ["1"]), (T + 3001, ["1", "2"])])
def test_an_id_is_forgotten_with_the_clock_even_if_settings_rise(clock: int, expected: list[str]) -> None:
    registry = Registry()
    events = [
        registry.publish(1, draft("COUNT", ">=", "1", by=("payeeId",), seconds=86_400), 0, 0),
        registry.change_settings(Settings(1000, 1000, 1000), T),
    ]
    raised = registry.change_settings(Settings(3_600_000, 3_600_000, 3_600_000), T)
    outcome = judge(
        [
            batch(events=events, records=[payment(1, T, more=SAME)]),
            batch(ticks=[clock]),
            batch(events=[raised], records=[payment(2, clock, more=SAME)]),
        ]
    )
    assert counts(outcome) == expected
