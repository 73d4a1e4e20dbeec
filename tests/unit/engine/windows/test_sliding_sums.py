"""Counts and sums of transactions in the order of event times are those that the lists of their groups give."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json, MicroBatch, Record
from tests.unit.engine.backtest.test_backtest import said
from tests.unit.engine.support.shard_harness import Engine
from tripline_engine.domain.judging.anchor_tuning import Telling
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING
from tripline_engine.domain.windows import sum_window

START = 1_700_000_000_000
PAYMENTS, BATCH = 3_000, 75
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def payments(random: Random) -> list[Record]:
    """Of groups that come, rest and go; some of equal times."""
    records: list[Record] = []
    for n in range(PAYMENTS):
        more: dict[str, Json] = {
            "payeeId": n // 450 + random.choice([0, 0, 0, 1, 2, 50]) * random.randint(1, 9),
            "paymentType": random.choice(["CSH", "CRD"]),
        }
        records.append(payment(n, START + n // 3 * 4_200, str(random.randint(-9, 99)), more=more))
    return records


def history(seed: int) -> list[MicroBatch]:
    """Rules that fire at every transaction, and tell all that is in their windows; two begin in the middle."""
    registry, random = Registry(), Random(seed)
    by = ("payeeId",)
    drafts = [
        draft("COUNT", ">=", "0", by=by, seconds=20),
        draft("SUM", ">", "-100000", by=by, seconds=60),
        draft("SUM", ">", "-100000", by=by, seconds=300, only=CASH),
        draft("COUNT", ">=", "0", by=by, seconds=300),
    ]
    later = [draft("AVG", ">", "-100000", by=by, seconds=5), draft("SUM", ">", "-100000", by=by, seconds=200)]
    records = payments(random)
    events = [registry.publish(rule_id, one, 0, START) for rule_id, one in enumerate(drafts, 1)]
    batches = [batch(events=events, ticks=[START])]
    for first in range(0, PAYMENTS, BATCH):
        clock = records[first].record_time
        published = []
        if first == PAYMENTS // BATCH // 2 * BATCH:
            published = [
                registry.publish(rule_id, one, clock, clock) for rule_id, one in enumerate(later, 11)
            ]
        batches.append(batch(events=published, ticks=[clock], records=records[first : first + BATCH]))
    return batches


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """In which ways sums were taken."""
    seen: set[str] = set()
    for way in ("slide_sums", "evaluate_sums"):
        kernel: Any = getattr(sum_window, way)

        def told(*words: Any, way: str = way, kernel: Any = kernel) -> None:
            seen.add(way)
            kernel(*words)

        monkeypatch.setattr(sum_window, way, told)
    return seen


def taken(batches: list[MicroBatch], small: int, *, in_order: bool) -> list[dict[str, Any]]:
    """All alerts."""
    telling = Telling(contributors=1)
    anchor = replace(DEFAULT_TUNING.anchor, small_group_rows=small, telling=telling, in_order=in_order)
    return Engine(tuning=replace(DEFAULT_TUNING, anchor=anchor)).run(batches)


@pytest.mark.parametrize("small", [0, 3, 8])
def test_alerts_are_those_of_the_lists(small: int, ways: set[str]) -> None:
    batches = history(small)
    slid = taken(batches, small, in_order=True)
    assert len(slid) > 3 * PAYMENTS
    assert ways == {"slide_sums"}
    ways.clear()
    assert said(taken(batches, small, in_order=False)) == said(slid)
    assert ways == {"evaluate_sums"}


def test_what_comes_late_is_not_slid_over() -> None:
    """Its window would lack what has left those of others: such a history is for the lists."""
    registry = Registry()
    published = registry.publish(1, draft("COUNT", ">=", "0", by=("payeeId",), seconds=60), 0, START)
    times = [*range(0, 9_000, 1_000), 100_000, 30_000]
    records = [
        payment(n, START + ms, more={"payeeId": 2 if ms == 100_000 else 1}) for n, ms in enumerate(times)
    ]
    batches = [batch(events=[published], ticks=[START]), *(batch(records=[one]) for one in records)]
    alerts = taken(batches, 0, in_order=False)
    assert [alert["value"] for alert in alerts] == [*(str(n) for n in range(1, 10)), "1", "10"]
    with pytest.raises(AssertionError):
        taken(batches, 0, in_order=True)
