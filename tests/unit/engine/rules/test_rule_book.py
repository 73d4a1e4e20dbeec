"""Positions: the next one alone is taken, what is refused moves nothing, and the book knows what it has applied."""

from __future__ import annotations

import json

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tripline_contracts import log_digest
from tripline_contracts.event_type_loader import load
from tripline_engine.domain.rules.event_decoder import MAX_EVENT_BYTES
from tripline_engine.domain.rules.log_position import LogPosition, PositionReport, is_report_due
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_events import RuleEventGap, UnreadableRuleEvent

ONE = draft("COUNT", ">=", "1", by=())
TRANSACTION = load("transaction")
MINUTE, HOUR = 60_000, 3_600_000


def events(count: int) -> list[bytes]:
    registry = Registry()
    return [registry.publish(number, ONE, 0, 0) for number in range(1, count + 1)]


def at(event: bytes, position: object) -> bytes:
    return json.dumps({**json.loads(event), "position": position}).encode()


def test_each_position_once_and_in_order() -> None:
    book, (first, second, third) = RuleBook(TRANSACTION), events(3)
    assert book.apply(first) is not None
    assert book.apply(first) is None
    with pytest.raises(RuleEventGap, match="position 3, where 2 is the next one"):
        book.apply(third)
    assert (book.position, book.is_waiting, set(book.rules)) == (1, True, {1})
    book.apply(second)
    assert (book.position, book.is_waiting) == (2, False)
    book.apply(third)
    assert (book.position, set(book.rules)) == (3, {1, 2, 3})


@pytest.mark.parametrize("position", [2**53 - 1, 2**31, 3])
def test_a_forged_position_ahead_silences_nothing(position: int) -> None:
    """One such record made an engine ignore every later change of the registry."""
    book, (first, second) = RuleBook(TRANSACTION), events(2)
    book.apply(first)
    with pytest.raises(RuleEventGap):
        book.apply(at(second, position))
    book.apply(second)
    assert set(book.rules) == {1, 2}


@pytest.mark.parametrize(
    "value",
    [
        b"{", b"", b"[]", b'{"position":"2"}', b'{"position":2}', b'{"type":"SettingsChanged","position":2}',
        b'{"type":"RuleSung","position":2}', b'{"position":%d}' % 2**70,
        b'{"type":"RulePublished","position":2}' + b" " * MAX_EVENT_BYTES,
    ],
)  # fmt: skip
def test_what_cannot_be_read_takes_no_position(value: bytes) -> None:
    book, (first, second) = RuleBook(TRANSACTION), events(2)
    book.apply(first)
    with pytest.raises((UnreadableRuleEvent, RuleEventGap)):
        book.apply(value)
    assert (book.position, book.is_waiting) == (1, True)
    book.apply(second)
    assert (set(book.rules), book.is_waiting) == ({1, 2}, False)


def test_unreadable_at_an_older_position_is_nothing_to_wait_for() -> None:
    book, (first,) = RuleBook(TRANSACTION), events(1)
    book.apply(first)
    assert book.apply(b'{"type":"RuleSung","position":1}') is None
    assert not book.is_waiting


def test_the_digest_is_that_of_what_was_applied() -> None:
    book, log = RuleBook(TRANSACTION), events(3)
    digest = log_digest.START
    for event in log:
        book.apply(event)
        book.apply(event)
        digest = log_digest.extend(digest, event)
    assert book.log_position == LogPosition(3, digest, 0, is_waiting=False)
    other = RuleBook(TRANSACTION)
    for event in (log[0], log[1], log[2] + b" "):
        other.apply(event)
    assert other.digest != digest, "other bytes, if only by a space"


def test_it_survives_storing_and_books_from_before_begin_where_they_stand() -> None:
    book, log = RuleBook(TRANSACTION), events(2)
    book.apply(log[0])
    with pytest.raises(UnreadableRuleEvent):
        book.apply(b"{")
    again = RuleBook.of_bytes(book.to_bytes(), TRANSACTION)
    assert (again.log_position, again.is_waiting) == (book.log_position, True)
    old = json.loads(book.to_bytes())
    for name in ("digest", "digestFrom", "waiting"):
        del old[name]
    before = RuleBook.of_bytes(json.dumps(old).encode(), TRANSACTION)
    assert before.log_position == LogPosition(1, log_digest.START, 1, is_waiting=False)
    before.apply(log[1])
    assert before.digest == log_digest.extend(log_digest.START, log[1])
    new = RuleBook.of_bytes(json.dumps({**old, "position": -1}).encode(), TRANSACTION)
    assert new.position == 0, "books from before had -1 before any event"


def test_a_rollout_survives_storing_and_shadows_from_before_count_for_no_group() -> None:
    registry, book = Registry(), RuleBook(TRANSACTION)
    book.apply(registry.publish(1, ONE, 0, 0))
    book.apply(registry.start_shadow(1, ONE, 0, 0))
    plain = json.loads(book.to_bytes())
    assert "percent" not in plain["rules"][0]["shadow"], "as engines from before have stored it"
    for percent in (20, 70):
        book.apply(registry.roll_out_shadow(1, percent, 0))
    again = RuleBook.of_bytes(book.to_bytes(), TRANSACTION)
    for stored, expected in ((again, 70), (RuleBook.of_bytes(json.dumps(plain).encode(), TRANSACTION), 0)):
        shadow = stored.rules[1].shadow
        assert shadow is not None
        assert (shadow.version, shadow.percent) == (2, expected)
    again.apply(registry.promote_shadow(1, 0))
    assert [version.percent for version in again.rules[1].versions] == [0, 0]


PLACE = LogPosition(3, "", 3, is_waiting=False)


@pytest.mark.parametrize(
    ("reported", "before", "clock", "is_due"),
    [
        (None, None, 5, True),
        (None, MINUTE, MINUTE + 1, False),
        (PositionReport(3, is_waiting=False, clock=0), MINUTE - 1, MINUTE, False),
        (PositionReport(2, is_waiting=False, clock=0), MINUTE - 1, MINUTE, True),
        (PositionReport(3, is_waiting=True, clock=0), MINUTE - 1, MINUTE, True),
        (PositionReport(2, is_waiting=False, clock=0), MINUTE, 2 * MINUTE - 1, False),
        (PositionReport(3, is_waiting=False, clock=0), HOUR - MINUTE, HOUR - 1, False),
        (PositionReport(3, is_waiting=False, clock=0), HOUR - 1, HOUR, True),
    ],
)
def test_a_report_is_due(
    reported: PositionReport | None, before: int | None, clock: int, *, is_due: bool
) -> None:
    assert is_report_due(PLACE, reported, before, clock) == is_due
