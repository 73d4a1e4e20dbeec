"""Random histories with buckets and commands of operators: they hold what they are for, and cuts decide nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from tests.oracle import MicroBatch, Outcome, judge
from tests.oracle.generators.profile import EVERYTHING, EVERYTHING_AND_MORE, Profile
from tests.oracle.histories.random_history import random_history
from tests.oracle.judgement.record_order import engine_order

pytestmark = pytest.mark.slow  # all of them together

SEEDS = range(15)


@cache
def histories() -> tuple[list[MicroBatch], ...]:
    return tuple(random_history(seed, EVERYTHING_AND_MORE) for seed in SEEDS)


@cache
def outcomes() -> tuple[Outcome, ...]:
    return tuple(judge(history) for history in histories())


def bucketed(outcome: Outcome) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Each alert that tells a precision, or a condition that does, with what tells it."""
    alerts: list[dict[str, Any]] = [*outcome.alerts]
    parts = [(alert, part) for alert in alerts for part in alert.get("conditions", [alert])]
    return [(alert, part) for alert, part in parts if "precision" in part]


@cache
def kinds() -> Counter[str]:
    """In how many histories there is a bucketed alert of each kind."""
    counts: Counter[str] = Counter()
    for outcome in outcomes():
        seen: set[str] = set()
        for alert, part in bucketed(outcome):
            least, most = part["precision"]["atLeast"], part["precision"]["atMost"]
            there = {
                "any": True,
                "chained": "conditions" in alert,
                "partial": alert["partial"],
                "late": alert["late"] is not None,
                "warm": alert["warm"],
                "cold": not alert["warm"],
                "differ": least != most,
                "equal": least == most is not None,
                "none": least is None and most is None,
                "merged": part["contributors"]["truncated"],
            }
            seen.update(kind for kind, so in there.items() if so)
        counts.update(seen)
    print({kind: f"{count / len(SEEDS):.2f}" for kind, count in sorted(counts.items())})
    return counts


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        ("any", 0.8),
        ("chained", 0.1),
        ("partial", 0.5),
        ("late", 0.4),
        ("warm", 0.4),
        ("cold", 0.4),
        ("differ", 0.4),
        ("equal", 0.6),
        ("none", 0.3),
        ("merged", 0.2),
    ],
)
def test_bucketed_alerts_of_every_kind_come(kind: str, share: float) -> None:
    assert kinds()[kind] >= share * len(SEEDS)


def without(history: list[MicroBatch], left_out: Callable[[bytes], bool]) -> list[MicroBatch]:
    """The same without some rule events."""
    return [
        replace(batch, rule_events=tuple(raw for raw in batch.rule_events if not left_out(raw)))
        for batch in history
    ]


def never_complete(history: list[MicroBatch]) -> list[MicroBatch]:
    """The same, in which no backfill makes anything warmer."""
    return [
        replace(
            batch,
            rule_events=tuple(
                raw.replace(b'"completeFrom"', b'"completedFrom"') for raw in batch.rule_events
            ),
        )
        for batch in history
    ]


def without_backfilled(history: list[MicroBatch]) -> list[MicroBatch]:
    return [
        replace(batch, records=tuple(record for record in batch.records if record.backfill is None))
        for batch in history
    ]


@pytest.mark.parametrize(
    ("changed", "share"),
    [
        (lambda history: without(history, lambda raw: b'"CLEAR_RULE"' in raw), 0.15),
        (lambda history: without(history, lambda raw: b'"CLEAR_GROUP"' in raw), 0.1),
        (lambda history: without(history, lambda raw: b'"VOID_TRANSACTION"' in raw), 0.25),
        (without_backfilled, 0.4),
        (never_complete, 0.03),
    ],
    ids=["CLEAR_RULE", "CLEAR_GROUP", "VOID_TRANSACTION", "backfilled", "completeFrom"],
)
def test_commands_change_alerts(
    changed: Callable[[list[MicroBatch]], list[MicroBatch]], share: float
) -> None:
    differ = sum(
        judge(changed(history)).alerts != outcome.alerts
        for history, outcome in zip(histories(), outcomes(), strict=True)
    )
    print(f"other alerts without: {differ / len(SEEDS):.2f}")
    assert differ >= share * len(SEEDS)


def test_records_come_under_backfills_that_stand_and_that_do_not() -> None:
    let_in = sum(outcome.backfilled > 0 for outcome in outcomes())
    closed = sum(
        any(reject.reason == "backfill_closed" for reject in outcome.rejects) for outcome in outcomes()
    )
    assert min(let_in, closed) >= 0.4 * len(SEEDS)


def test_rules_share_buckets() -> None:
    """Of one length, over the same fields, in two rules of one history."""
    sharing = 0
    for history in histories():
        definitions = {
            (event["ruleId"], json.dumps(same(event["definition"])))
            for batch in history
            for event in map(read, batch.rule_events)
            if "bucketed" in str(event.get("definition", {}).get("precision"))
        }
        sharing += max(Counter(what for _, what in definitions).values(), default=0) > 1
    assert sharing >= 0.5 * len(SEEDS)


def same(definition: dict[str, Any]) -> dict[str, Any]:
    names = ("groupingKeyNames", "filter", "precision", "aggregateFieldName")
    return {name: definition.get(name) for name in names}


def read(raw: bytes) -> dict[str, Any]:
    """A rule event, empty for what is none."""
    try:
        value = json.loads(raw)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


@pytest.mark.parametrize("seed", range(10))
def test_where_the_micro_batches_are_cut_decides_nothing(seed: int) -> None:
    pieces: list[MicroBatch] = []
    for batch in histories()[seed]:
        raws = sorted(batch.rule_events, key=lambda raw: int(read(raw).get("position", -1)))
        pieces += [MicroBatch((raw,), (), ()) for raw in raws]
        pieces += [MicroBatch((), (tick,), ()) for tick in batch.ticks]
        pieces += [MicroBatch((), (), (record,)) for record in engine_order(batch.records)]
    assert judge(pieces) == outcomes()[seed]


@pytest.mark.parametrize("profile", [Profile(), EVERYTHING])
def test_who_does_not_ask_for_them_gets_none_of_it(profile: Profile) -> None:
    commands = (b"CLEAR_RULE", b"CLEAR_GROUP", b"VOID_TRANSACTION", b"_BACKFILL", b"bucketed")
    for seed in range(10):
        for batch in random_history(seed, profile):
            assert all(record.backfill is None for record in batch.records)
            assert not any(command in raw for raw in batch.rule_events for command in commands)
