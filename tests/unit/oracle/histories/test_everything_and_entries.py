"""Random histories with lists that change by single entries: they hold what they are for, and cuts decide nothing."""

from __future__ import annotations

import json
from bisect import bisect_left
from dataclasses import replace
from functools import cache

import pytest

from tests.oracle import MicroBatch, judge
from tests.oracle.generators.profile import EVERYTHING_AND_ENTRIES
from tests.oracle.histories.random_history import random_history

pytestmark = pytest.mark.slow  # all of them together

SEEDS = range(12)


@cache
def histories() -> tuple[list[MicroBatch], ...]:
    return tuple(random_history(seed, EVERYTHING_AND_ENTRIES) for seed in SEEDS)


def is_change(raw: bytes) -> bool:
    return b'"ListEntriesChanged"' in raw


def without_entries(history: list[MicroBatch]) -> list[MicroBatch]:
    """The same history without these events, and without the positions that they took."""
    taken = sorted(
        {json.loads(raw)["position"] for batch in history for raw in batch.rule_events if is_change(raw)}
    )
    return [
        replace(
            batch, rule_events=tuple(moved(raw, taken) for raw in batch.rule_events if not is_change(raw))
        )
        for batch in history
    ]


def moved(raw: bytes, taken: list[int]) -> bytes:
    """The event, so many positions earlier as were taken before it; as it is if it cannot be read."""
    try:
        event = json.loads(raw)
        return json.dumps(
            {**event, "position": event["position"] - bisect_left(taken, event["position"])}
        ).encode()
    except (ValueError, TypeError, KeyError):
        return raw


def test_entries_come_in_most_histories_and_make_a_difference() -> None:
    having = sum(any(map(is_change, batch.rule_events)) for history in histories() for batch in history)
    differ = 0
    for history in histories():
        given = {alert["alertId"] for alert in judge(history).alerts}
        differ += given != {alert["alertId"] for alert in judge(without_entries(history)).alerts}
    print(f"events in {having} micro-batches; other alerts without them: {differ / len(SEEDS):.2f}")
    assert having >= len(SEEDS)
    assert differ >= 0.25 * len(SEEDS)
