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
    T,
    at,
    each,
    ms,
    old,
    rejects,
    steps,
    values,
    warm_from,
)

END = REGISTRY.end_backfill(NAME)


def test_let_in_whatever_its_age() -> None:
    before = at(1, 0, accepted=2000)
    outcome = steps(RULE, before, START, old(2, 0, 2000), at(3, 2000))
    assert (values(outcome), rejects(outcome), outcome.backfilled) == (["2"], [(1, "too_late")], 3)


def test_older_than_all_that_the_clock_lets_in() -> None:
    parts: list[Part] = [RULE, START, 2000]
    assert rejects(steps(*parts, at(1, 1000, accepted=1700))) == [(1, "too_late")]
    outcome = steps(*parts, old(1, 1000, 1700), at(2, 2000))
    assert (values(outcome), rejects(outcome)) == (["2"], [])


def test_on_record_however_far_behind_the_clock() -> None:
    parts: list[Part] = [RULE, START, 2000]
    assert rejects(steps(*parts, at(1, 1650))) == [(1, "out_of_order")]
    outcome = steps(*parts, old(1, 1650, 1650), at(2, 2000))
    assert (values(outcome), rejects(outcome)) == (["2"], [])


@pytest.mark.parametrize("what", ["COUNT", "COUNT_DISTINCT"])
def test_several_at_once_that_no_window_reaches(what: str) -> None:
    registry = Registry()
    rule = registry.publish(
        1, draft(what, ">=", "1", by=("payeeId",), seconds=3600, field="beneficiaryId"), 0, 0
    )
    start, name = registry.start_backfill()
    records = [*(old(offset, 0, 7200, name) for offset in (1, 2, 3)), at(4, 7200)]
    assert values(judge([batch(events=[rule, start], ticks=[ms(7200)], records=records)])) == ["1"]


def test_what_is_ahead_of_its_record_time_is_refused() -> None:
    assert rejects(steps(RULE, START, old(1, 300, 0), old(2, 300.001, 0))) == [(2, "future_event")]


def test_what_cannot_be_read_is_so_first() -> None:
    broken, huge = Record(0, 1, T, b"{", NAME), Record(0, 2, T, b" " * 65_537, NAME)
    for parts in ([START, broken, huge], [broken, huge]):
        assert rejects(steps(*parts)) == [(1, "unparseable"), (2, "oversized")]


def test_duplicates_are_duplicates() -> None:
    outcome = steps(
        RULE, START, at(1, 100), old(1, 100, 100), old(2, 50, 100), old(2, 50, 100), at(2, 100), at(3, 100)
    )
    # Of each the first counts, backfilled or not.
    assert (values(outcome), outcome.duplicates, outcome.backfilled) == (["1", "3"], 9, 3)
    # The rule counts the duplicate that is no backfilled one.
    assert outcome.counts == {1: Counts(evaluations=2, equal_times=1, duplicates=1)}


def test_on_some_anchors() -> None:
    outcome = steps(START, old(1, 0, 2000, payeeId=None), old(2, 0, 2000), old(2, 0, 2000, payeeId=7))
    # On two anchors, on three, and on that of the other payee.
    assert (outcome.backfilled, outcome.duplicates) == (6, 2)


CLOSED = [(9, "backfill_closed")]


def test_where_it_does_not_stand_it_is_refused() -> None:
    young, aged, early = (
        old(9, 2000, 2000),
        old(9, 0, 2000),
        replace(at(9, 3000), backfill=NAME, record_time=T),
    )
    for record in (young, aged, early):
        assert rejects(steps(RULE, record)) == CLOSED
        assert rejects(steps(RULE, START, END, record)) == CLOSED
        assert rejects(steps(RULE, START, replace(record, backfill="another"))) == CLOSED
        assert rejects(steps(RULE, START, replace(record, backfill=""))) == CLOSED


def test_rule_events_of_its_micro_batch_come_first() -> None:
    registry = Registry()
    start, name = registry.start_backfill()
    record = old(9, 0, 2000, name)
    opened = MicroBatch((start,), (), (record,))
    closed = MicroBatch((registry.end_backfill(name),), (), (replace(record, offset=10),))
    assert rejects(judge([opened, closed])) == [(10, "backfill_closed")]


def test_several_stand_at_once() -> None:
    registry = Registry()
    (one, first), (other, second) = registry.start_backfill(), registry.start_backfill()
    parts: list[Part] = [one, other, old(1, 0, 2000, first), registry.end_backfill(first)]
    assert rejects(steps(*parts, old(2, 0, 2000, second), old(9, 0, 2000, first))) == CLOSED


def test_ending_an_unknown_or_closed_one_does_nothing() -> None:
    other = Registry().end_backfill("another", T - 10**7)
    pause = Registry()
    pause.publish(1, each(), 0, 0)
    status = pause.move("RulePaused", "PAUSED", 1, 0)
    outcome = steps(RULE, 100, other, END, START, other, old(1, 0, 2000), status)
    assert (rejects(outcome), outcome.skipped_rule_events, warm_from(outcome)) == ([], 0, [None, 3700])


def test_a_clear_leaves_it_open() -> None:
    clear = Registry().control("CLEAR_STATE_ALL", 0)
    assert rejects(steps(START, clear, old(1, 0, 2000))) == []
