"""Records that a backfill lets in, and when it stands (decision 0039), each by a case done by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.oracle import MicroBatch, Record
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import Part, batch, draft
from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.agreement import judge
from tests.unit.oracle.support.backfills import (
    NAME,
    REGISTRY,
    RULE,
    START,
    refill,
    rejects,
    tally,
    values,
    warm_from,
)
from tests.unit.oracle.support.hour_timeline import T, ms, pay, play

END = REGISTRY.end_backfill(NAME)


def test_let_in_whatever_its_age() -> None:
    before = pay(1, 0, accepted=2000)
    outcome = play(RULE, before, START, refill(2, 0, 2000), pay(3, 2000))
    assert (values(outcome), rejects(outcome), outcome.backfilled) == (["2"], [(1, "too_late")], 3)


def test_older_than_all_that_the_clock_lets_in() -> None:
    parts: list[Part] = [RULE, START, 2000]
    assert rejects(play(*parts, pay(1, 1000, accepted=1700))) == [(1, "too_late")]
    outcome = play(*parts, refill(1, 1000, 1700), pay(2, 2000))
    assert (values(outcome), rejects(outcome)) == (["2"], [])


def test_on_record_however_far_behind_the_clock() -> None:
    parts: list[Part] = [RULE, START, 2000]
    assert rejects(play(*parts, pay(1, 1650))) == [(1, "out_of_order")]
    outcome = play(*parts, refill(1, 1650, 1650), pay(2, 2000))
    assert (values(outcome), rejects(outcome)) == (["2"], [])


@pytest.mark.parametrize("what", ["COUNT", "COUNT_DISTINCT"])
def test_several_at_once_that_no_window_reaches(what: str) -> None:
    registry = Registry()
    rule = registry.publish(
        1, draft(what, ">=", "1", by=("payeeId",), seconds=3600, field="beneficiaryId"), 0, 0
    )
    start, name = registry.start_backfill()
    records = [*(refill(offset, 0, 7200, name) for offset in (1, 2, 3)), pay(4, 7200)]
    assert values(judge([batch(events=[rule, start], ticks=[ms(7200)], records=records)])) == ["1"]


def test_what_is_ahead_of_its_record_time_is_refused() -> None:
    assert rejects(play(RULE, START, refill(1, 300, 0), refill(2, 300.001, 0))) == [(2, "future_event")]


def test_what_cannot_be_read_is_so_first() -> None:
    broken, huge = Record(0, 1, T, b"{", NAME), Record(0, 2, T, b" " * 65_537, NAME)
    for parts in ([START, broken, huge], [broken, huge]):
        assert rejects(play(*parts)) == [(1, "unparseable"), (2, "oversized")]


def test_duplicates_are_duplicates() -> None:
    outcome = play(
        RULE,
        START,
        pay(1, 100),
        refill(1, 100, 100),
        refill(2, 50, 100),
        refill(2, 50, 100),
        pay(2, 100),
        pay(3, 100),
    )
    # Of each the first counts, backfilled or not.
    assert (values(outcome), outcome.duplicates, outcome.backfilled) == (["1", "3"], 9, 3)
    # The rule counts the duplicate that is no backfilled one.
    assert outcome.counts == {1: Counts(evaluations=2, equal_times=1, duplicates=1)}


def test_on_some_anchors() -> None:
    outcome = play(START, refill(1, 0, 2000, payeeId=None), refill(2, 0, 2000), refill(2, 0, 2000, payeeId=7))
    # On two anchors, on three, and on that of the other payee.
    assert (outcome.backfilled, outcome.duplicates) == (6, 2)


CLOSED = [(9, "backfill_closed")]


def test_where_it_does_not_stand_it_is_refused() -> None:
    young, aged, early = (
        refill(9, 2000, 2000),
        refill(9, 0, 2000),
        replace(pay(9, 3000), backfill=NAME, record_time=T),
    )
    for record in (young, aged, early):
        assert rejects(play(RULE, record)) == CLOSED
        assert rejects(play(RULE, START, END, record)) == CLOSED
        assert rejects(play(RULE, START, replace(record, backfill="another"))) == CLOSED
        assert rejects(play(RULE, START, replace(record, backfill=""))) == CLOSED


def test_rule_events_of_its_micro_batch_come_first() -> None:
    registry = Registry()
    start, name = registry.start_backfill()
    record = refill(9, 0, 2000, name)
    opened = MicroBatch((start,), (), (record,))
    closed = MicroBatch((registry.end_backfill(name),), (), (replace(record, offset=10),))
    assert rejects(judge([opened, closed])) == [(10, "backfill_closed")]


def test_several_stand_at_once() -> None:
    registry = Registry()
    (one, first), (other, second) = registry.start_backfill(), registry.start_backfill()
    parts: list[Part] = [one, other, refill(1, 0, 2000, first), registry.end_backfill(first)]
    assert rejects(play(*parts, refill(2, 0, 2000, second), refill(9, 0, 2000, first))) == CLOSED


def test_ending_an_unknown_or_closed_one_does_nothing() -> None:
    other = Registry().end_backfill("another", T - 10**7)
    pause = Registry()
    pause.publish(1, tally(), 0, 0)
    status = pause.move("RulePaused", "PAUSED", 1, 0)
    outcome = play(RULE, 100, other, END, START, other, refill(1, 0, 2000), status)
    assert (rejects(outcome), outcome.skipped_rule_events, warm_from(outcome)) == ([], 0, [None, 3700])


def test_a_clear_leaves_it_open() -> None:
    clear = Registry().control("CLEAR_STATE_ALL", 0)
    assert rejects(play(START, clear, refill(1, 0, 2000))) == []
