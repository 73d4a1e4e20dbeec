"""Crossing, reset and stored late ones, each by a case small enough to do by hand."""

from __future__ import annotations

import pytest

from tests.oracle import MicroBatch, Record
from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000
MINUTE = 60_000


def pay(
    offset: int, seconds: float, amount: str = "1", accepted: float | None = None, payee: int = 25
) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(
        offset, T + int(1000 * seconds), amount, record_time=T + int(1000 * later), more={"payeeId": payee}
    )


def rule(function: str, operator: str, limit: str, *, firing: str, late: str, reset: bool) -> Draft:
    """By payee, over a minute."""
    return draft(
        function, operator, limit, by=("payeeId",), seconds=60, firing=firing, late_events=late, reset=reset
    )


def count(limit: int, firing: str = "every", late: str = "evaluate", *, reset: bool = False) -> Draft:
    return rule("COUNT", ">=", str(limit), firing=firing, late=late, reset=reset)


def largest(firing: str = "every", late: str = "evaluate", *, reset: bool = False) -> Draft:
    """Alerts when the largest of the last minute is above 10."""
    return rule("MAX", ">", "10", firing=firing, late=late, reset=reset)


def alerts(what: Draft, *records: Record) -> list[tuple[str, object]]:
    """Id and value of each alert."""
    return rows([batch(events=[Registry().publish(1, what, 0, 0)], records=records)])


def rows(batches: list[MicroBatch]) -> list[tuple[str, object]]:
    alert_rows: list[tuple[str, object]] = []
    for alert in judge(batches).alerts:
        transaction = alert["transaction"]
        assert isinstance(transaction, dict)
        alert_rows.append((str(transaction["transactionId"]), alert["value"]))
    return alert_rows


# --- crossing


def test_crossing_alerts_when_it_begins_to_hold() -> None:
    records = [pay(1, 0), pay(2, 1), pay(3, 2), pay(4, 3)]
    assert alerts(count(2, "crossing"), *records) == [("t2", "2")]
    assert alerts(count(2), *records) == [("t2", "2"), ("t3", "3"), ("t4", "4")]


def test_crossing_alerts_again_after_it_did_not_hold() -> None:
    records = [pay(1, 0, "11"), pay(2, 30, "1"), pay(3, 61, "2"), pay(4, 62, "12")]
    assert alerts(largest("crossing"), *records) == [("t1", "11"), ("t4", "12")]


@pytest.mark.parametrize(
    ("after", "expected"),
    [(60, [("t1", "1")]), (60.001, [("t1", "1"), ("t2", "1")])],
)
def test_the_previous_evaluation_counts_while_it_is_in_the_window(
    after: float, expected: list[tuple[str, object]]
) -> None:
    assert alerts(count(1, "crossing"), pay(1, 0), pay(2, after)) == expected


def test_each_group_crosses_for_itself() -> None:
    records = [pay(1, 0), pay(2, 1, payee=7), pay(3, 2)]
    assert alerts(count(1, "crossing"), *records) == [("t1", "1"), ("t2", "1")]


def test_equal_times_are_in_order() -> None:
    assert alerts(count(2, "crossing"), pay(1, 0), pay(2, 0)) == [("t2", "2")]


def test_a_late_one_neither_alerts_nor_moves_the_state() -> None:
    # t3 would hold on its own window; t4 would then not cross.
    records = [
        pay(1, 50, "1"),
        pay(2, 51, "1"),
        pay(3, 49, "99", accepted=51),
        pay(4, 52, "1"),
        pay(5, 53, "99"),
    ]
    assert alerts(largest("crossing"), *records) == [("t4", "99")]


def test_a_late_one_that_does_not_hold_does_not_end_a_crossing() -> None:
    records = [pay(1, 50, "99"), pay(2, 40, "1", accepted=50), pay(3, 51, "1")]
    assert alerts(largest("crossing"), *records) == [("t1", "99")]


def test_a_pause_keeps_the_state() -> None:
    registry = Registry()
    events = [
        registry.publish(1, count(1, "crossing"), 0, 0),
        registry.move("RulePaused", "PAUSED", 1, 0),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
    ]
    batches = [batch(events=[event], records=[pay(n, 20 * n)]) for n, event in enumerate(events)]
    assert rows(batches) == [("t0", "1")]
    # What a pause skipped is no evaluation: after 61 s the one before it no longer counts.
    batches = [batch(events=[event], records=[pay(n, 30.5 * n)]) for n, event in enumerate(events)]
    assert rows(batches) == [("t0", "1"), ("t2", "2")]


def test_a_new_definition_starts_afresh() -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, count(1, "crossing"), 0, 0)], records=[pay(n, n)]) for n in range(3)
    ]
    assert rows(batches) == [("t0", "1"), ("t1", "2"), ("t2", "3")]


def test_versions_side_by_side_have_a_state_each() -> None:
    registry = Registry()
    first = registry.publish(1, count(1, "crossing"), 0, 0)
    second = registry.publish(1, count(1, "crossing"), T + 10_000, 0)
    # t3 is late for the first version, which therefore keeps quiet; t4 is of another payee.
    records = [pay(1, 0), pay(2, 10), pay(3, 9, accepted=10), pay(4, 9.5, accepted=10, payee=7), pay(5, 11)]
    assert rows([batch(events=[first, second], records=records)]) == [("t1", "1"), ("t2", "2"), ("t4", "1")]


# --- resetOnAlert


def test_after_an_alert_only_what_is_accepted_later_counts() -> None:
    records = [pay(n, n) for n in range(1, 8)]
    assert alerts(count(3, reset=True), *records) == [("t3", "3"), ("t6", "3")]


def test_a_late_one_accepted_after_the_reset_counts_and_is_late_by_all() -> None:
    records = [pay(1, 10), pay(2, 11), pay(3, 5, accepted=11), pay(4, 12)]
    alerts = judge(
        [batch(events=[Registry().publish(1, count(2, reset=True), 0, 0)], records=records)]
    ).alerts
    assert [(alert["value"], alert["late"]) for alert in alerts] == [("2", None), ("2", None)]
    alerts = judge(
        [batch(events=[Registry().publish(1, count(1, reset=True), 0, 0)], records=records)]
    ).alerts
    assert [(alert["value"], alert["late"]) for alert in alerts] == [
        ("1", None),
        ("1", None),
        ("1", {"newestEventTime": T + 11_000}),
        ("1", None),
    ]


def test_a_late_one_that_alerts_resets() -> None:
    # t3 counts alone after the reset at t2; t4, late too, makes it two and resets again: t5 is alone.
    records = [pay(1, 10), pay(2, 50), pay(3, 11, accepted=50), pay(4, 12, accepted=50), pay(5, 51)]
    assert alerts(count(2, reset=True), *records) == [("t2", "2"), ("t4", "2")]
    assert alerts(
        rule("SUM", ">=", "7", firing="every", late="evaluate", reset=True),
        pay(1, 10, "5"),
        pay(2, 50, "1"),
        pay(3, 11, "2", accepted=50),
        pay(4, 51, "6"),
    ) == [("t3", "7")]


def test_other_groups_and_other_rules_are_untouched() -> None:
    registry = Registry()
    events = [registry.publish(1, count(2, reset=True), 0, 0), registry.publish(2, count(2), 0, 0)]
    records = [pay(1, 1), pay(2, 2, payee=7), pay(3, 3), pay(4, 4, payee=7), pay(5, 5)]
    alerts = judge([batch(events=events, records=records)]).alerts
    assert [(alert["ruleId"], alert["eventTime"]) for alert in alerts] == [
        (1, T + 3000),
        (2, T + 3000),
        (1, T + 4000),
        (2, T + 4000),
        (2, T + 5000),
    ]


def test_a_new_definition_counts_what_the_old_one_had_reset() -> None:
    registry = Registry()
    batches = [
        batch(events=[registry.publish(1, count(2, reset=True), 0, 0)], records=[pay(1, 1), pay(2, 2)]),
        batch(events=[registry.publish(1, count(3, reset=True), 0, 0)], records=[pay(3, 3), pay(4, 4)]),
    ]
    assert rows(batches) == [("t2", "2"), ("t3", "3")]


def test_a_reset_outlives_a_pause() -> None:
    registry = Registry()
    events = [
        registry.publish(1, count(2, reset=True), 0, 0),
        registry.move("RulePaused", "PAUSED", 1, 0),
        registry.move("RuleResumed", "ACTIVE", 1, 0),
    ]
    one, two, three = events
    batches = [
        batch(events=[one], records=[pay(1, 1), pay(2, 2)]),
        batch(events=[two], records=[pay(3, 3)]),
        batch(events=[three], records=[pay(4, 4)]),
    ]
    assert rows(batches) == [("t2", "2"), ("t4", "2")]


def test_crossing_with_reset_waits_until_it_did_not_hold() -> None:
    # After the alert at t2 the window of t3 has one, which does not hold; t4 crosses again.
    assert alerts(count(2, "crossing", reset=True), *[pay(n, n) for n in range(1, 7)]) == [
        ("t2", "2"),
        ("t4", "2"),
        ("t6", "2"),
    ]
    # Where it goes on holding after the reset there is neither alert nor reset.
    records = [pay(1, 0, "11"), pay(2, 1, "12"), pay(3, 2, "1")]
    assert alerts(largest("crossing", reset=True), *records) == [("t1", "11")]
    assert alerts(largest("every", reset=True), *records) == [("t1", "11"), ("t2", "12")]


# --- store


def test_a_stored_one_triggers_nothing_and_counts_later() -> None:
    records = [pay(1, 10), pay(2, 5, accepted=10), pay(3, 10), pay(4, 11)]
    assert alerts(count(1, late="store"), *records) == [("t1", "1"), ("t3", "3"), ("t4", "4")]


def test_a_stored_one_is_no_evaluation() -> None:
    records = [pay(1, 70, "1"), pay(2, 5, "99", accepted=70), pay(3, 6, "1", accepted=70), pay(4, 71, "99")]
    for firing in ("every", "crossing"):
        assert alerts(largest(firing, late="store"), *records) == [("t4", "99")]


def test_a_stored_one_counts_after_a_reset() -> None:
    records = [pay(1, 10), pay(2, 11), pay(3, 9, accepted=11), pay(4, 12)]
    assert alerts(count(2, late="store", reset=True), *records) == [("t2", "2"), ("t4", "2")]
