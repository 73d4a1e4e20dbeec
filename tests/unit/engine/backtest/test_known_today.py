"""A rule that is tried with what is known today: each transaction when it happened, once, and voided ones never."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.in_parts import in_parts
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, payment
from tests.oracle.generators.profile import (
    EVERYTHING_AND_ENTRIES,
    EVERYTHING_AND_MORE,
    THE_WHOLE_LANGUAGE,
    Profile,
)
from tests.oracle.histories.random_history import random_history
from tests.oracle.histories.seeds import seeds
from tests.oracle.judgement.oracle import judge
from tests.oracle.parsers.named_values import ListChanged, ListEntriesChanged, ParameterChanged
from tests.oracle.parsers.operator_commands import VoidTransaction
from tests.oracle.parsers.rule_events import Settings, read_events
from tests.oracle.parsers.transactions import read_transaction
from tests.oracle.state.rule_book import RuleBook
from tests.oracle.values.errors import Unreadable
from tests.oracle.values.event_types import current_type
from tests.oracle.values.model import MicroBatch, Record
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.backtest.test_backtest import COUNT, definitions, said, some_span, tried
from tests.unit.engine.rebuild.support.recorded_run import Recording
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_engine.backtest.history import history_of
from tripline_engine.backtest.ordered import known_today
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.prover.settings import Judged

ALL = Span(0, 1 << 50)
KEPT = (Settings, ListChanged, ListEntriesChanged, ParameterChanged)


def tried_today(
    recording: Recording, rule: TriedRule, span: Span = ALL, shards: int = 1
) -> list[dict[str, Any]]:
    alerts: list[dict[str, Any]] = []
    journals = recording.journals
    history = history_of([rule], span, None, journals, TRANSACTION)
    judged = Judged(TRANSACTION, "data")
    known_today.backtest_today(
        [rule], span, history, journals, judged, lambda one: alerts.append(one.alert), shards
    )
    return alerts


def known(batches: Sequence[MicroBatch], rule: TriedRule, span: Span) -> list[MicroBatch]:
    """The history as the specification of this kind of backtest has it, by the oracle's own readers."""
    rules = [(raw, read_events([raw])[0]) for one in batches for raw in one.rule_events]
    book, kept, tolerances = RuleBook(current_type().anchors), [published(rule, span)], Settings()
    voids: set[tuple[str, int]] = set()
    for raw, [event] in sorted((pair for pair in rules if pair[1]), key=lambda pair: pair[1][0].position):
        if not book.take(event):
            continue
        if isinstance(event.content, KEPT):
            kept.append(json.dumps({**json.loads(raw), "position": len(kept) + 1}).encode())
        if isinstance(event.content, Settings):
            tolerances = event.content
        if isinstance(event.content, VoidTransaction):
            voids.add((event.content.transaction_id, event.content.event_time))
    happened = sorted(
        (transaction.event_time, record.record_time, record.partition, record.offset, record.value or b"")
        for record, transaction in readable(batches)
        if transaction.event_time <= record.record_time + tolerances.max_future_skew
        and (transaction.transaction_id, transaction.event_time) not in voids
    )
    records = [Record(0, offset, time, value) for offset, (time, *_, value) in enumerate(happened)]
    first = [] if not records else [records[0].record_time]
    return [batch(events=kept, ticks=first, records=records)]


def without_contributors(value: Any) -> Any:
    """Of a bucketed value those are told that no tick has put into buckets yet, and ticks come with micro-batches."""
    if isinstance(value, list):
        return [without_contributors(one) for one in value]
    if isinstance(value, dict):
        return {name: without_contributors(one) for name, one in value.items() if name != "contributors"}
    return value


def readable(batches: Sequence[MicroBatch]) -> Iterator[tuple[Record, Any]]:
    for record in (record for one in batches for record in one.records):
        try:
            yield record, read_transaction(record)
        except Unreadable:
            continue


def published(rule: TriedRule, span: Span) -> bytes:
    return json.dumps({
        "eventId": "x", "type": "RulePublished", "position": 1, "occurredAt": 0, "actor": "ada", "widestWindows": [],
        "ruleId": rule.rule_id, "version": 1, "definitionVersion": 1, "state": "ACTIVE", "name": rule.name,
        "definition": rule.definition.to_json(), "definitionHash": rule.definition.hash,
        "effectiveFrom": span.first, "effectiveUntil": span.until,
    }).encode()  # fmt: skip


@in_parts(8, with_soak=60)
@pytest.mark.slow
def test_it_is_what_the_oracle_says_of_the_history_in_order(
    histories: range, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    seen: Counter[str] = Counter()

    def equal(seed: int, profile: Profile, shards: int, cell: int) -> None:
        monkeypatch.setattr(known_today, "CELL", cell)
        batches, rng = random_history(seed, profile), Random(seed)
        engine = Engine(1)
        engine.run(batches)
        rule, span = tried(rng.choice(list(definitions(batches)))), some_span(batches, rng)
        expected = judge(known(batches, rule, span)).alerts
        recording = Recording(batches, engine.out)
        again = tried_today(recording, rule, span, shards)
        assert said(again) == said(tried_today(recording, rule, span)), "byte by byte in any number of shards"
        if rule.definition.bucket_seconds is not None:
            again, expected = without_contributors(again), without_contributors(expected)
        assert said(again) == said(expected)
        assert not any(alert["late"] for alert in again)
        seen["histories"] += 1
        seen["with alerts"] += bool(again)
        seen["of a part"] += span.first > 0 and bool(again)

    profiles = [
        EVERYTHING_AND_MORE,
        EVERYTHING_AND_ENTRIES,
        THE_WHOLE_LANGUAGE,
        replace(Profile(), commands=0.4),
    ]
    for seed, draw in seeds(histories):
        equal(seed, draw.choice(profiles), draw.choice([1, 2, 3]), draw.choice([7, 50, 10_000]))
    record_property("tried", f"{dict(seen)}")
    assert seen["with alerts"] > seen["histories"] / 3
    assert seen["of a part"] > 0


def recorded(batches: Sequence[MicroBatch]) -> Recording:
    engine = Engine(1)
    engine.run(batches)
    return Recording(batches, engine.out)


def values(alerts: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(alert["transaction"]["transactionId"], alert["value"]) for alert in alerts]


HOUR = 3_600_000
EACH = {**COUNT, "limit": 1, "windowSeconds": 7_200}


def test_a_late_one_counts_where_it_happened_even_one_that_was_refused() -> None:
    batches = [
        batch(ticks=[START]),
        batch(records=[payment(0, START), payment(1, START + 60_000)]),
        batch(records=[payment(2, START + 30_000, record_time=START + HOUR)]),
    ]
    alerts = tried_today(recorded(batches), tried(EACH))
    assert values(alerts) == [("t0", "1"), ("t2", "2"), ("t1", "3")]
    assert [alert["late"] for alert in alerts] == [None] * 3


def test_what_claims_to_be_from_the_future_stays_refused() -> None:
    batches = [
        batch(ticks=[START]),
        batch(records=[payment(0, START), payment(1, START + HOUR, record_time=START + 1)]),
    ]
    assert values(tried_today(recorded(batches), tried(EACH))) == [("t0", "1")]


def test_one_that_came_twice_counts_when_it_happened_first() -> None:
    twice = {"transactionId": "twice"}
    batches = [
        batch(ticks=[START]),
        batch(records=[payment(0, START + 60_000, more=twice), payment(1, START + 30_000)]),
        batch(records=[payment(2, START, record_time=START + 90_000, more=twice)]),
    ]
    assert values(tried_today(recorded(batches), tried(EACH))) == [("twice", "1"), ("t1", "2")]


def test_a_voided_one_never_was_and_a_list_is_what_it_is_today() -> None:
    registry = Registry()
    before = registry.change_list("watched", ["12"], START)
    rule = {**EACH, "filter": {"field": "payeeId", "in": {"list": "watched"}}}
    batches = [
        batch(ticks=[START], events=[before]),
        batch(records=[payment(0, START), payment(1, START + 1), payment(2, START + 2)]),
        batch(events=[registry.change_list("watched", ["25"], START), registry.void("t1", START + 1, START)]),
    ]
    assert values(tried_today(recorded(batches), tried(rule))) == [("t0", "1"), ("t2", "2")]


def test_windows_are_full_where_the_span_begins() -> None:
    batches = [batch(ticks=[START])]
    batches += [batch(ticks=[START + n * HOUR], records=[payment(n, START + n * HOUR)]) for n in range(9)]
    alerts = tried_today(recorded(batches), tried(EACH), Span(START + 5 * HOUR, START + 7 * HOUR))
    assert values(alerts) == [("t5", "3"), ("t6", "3")]
    assert all(alert["warm"] for alert in alerts)
