"""Counts and sums of transactions in the order of event times are those that the lists of their groups give."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import Json, MicroBatch, Record
from tests.unit.engine.backtest.test_backtest import said
from tests.unit.engine.support.shard_harness import Engine
from tripline_engine.domain.history.history_columns import HistoryColumns
from tripline_engine.domain.judging.anchor_tuning import Telling
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING
from tripline_engine.domain.windows import sum_window

START = 1_700_000_000_000
PAYMENTS, BATCH = 3_000, 75
CASH: Json = {"field": "paymentType", "operator": "=", "value": "CSH"}


def payments(random: Random, disorder: float) -> list[Record]:
    """Of groups that come, rest and go; some of equal times, and in the middle of all a share of late ones."""
    records: list[Record] = []
    for n in range(PAYMENTS):
        late = random.random() < disorder and PAYMENTS // 4 < n < PAYMENTS // 3
        time = START + n // 3 * 4_200 - late * random.randrange(60_000)
        more: dict[str, Json] = {
            "payeeId": n // 450 + random.choice([0, 0, 0, 1, 2, 50]) * random.randint(1, 9),
            "paymentType": random.choice(["CSH", "CRD"]),
        }
        records.append(payment(n, time, str(random.randint(-9, 99)), more=more))
    return records


def history(seed: int, disorder: float) -> list[MicroBatch]:
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
    records = payments(random, disorder)
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
def ways(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """In which way sums were taken, each time."""
    seen: list[str] = []
    for way in ("slide_sums", "evaluate_sums"):
        kernel: Any = getattr(sum_window, way)

        def counted(*words: Any, way: str = way, kernel: Any = kernel) -> None:
            seen.append(way)
            kernel(*words)

        monkeypatch.setattr(sum_window, way, counted)
    return seen


def taken(batches: list[MicroBatch], small: int, directory: Path | None = None) -> list[dict[str, Any]]:
    """All alerts; two worker processes take the micro-batches by turns where arrays are files."""
    anchor = replace(DEFAULT_TUNING.anchor, small_group_rows=small, telling=Telling(contributors=1))
    engine = Engine(1, directory, tuning=replace(DEFAULT_TUNING, anchor=anchor))
    for one in batches:
        engine.take(one)
        engine.change_worker()
    return engine.alerts()


@pytest.mark.parametrize(
    ("disorder", "small", "mapped"), [(0.0, 0, False), (0.0, 8, False), (0.02, 0, False), (0.02, 8, True)]
)
def test_alerts_are_those_of_the_lists(
    disorder: float,
    small: int,
    mapped: bool,
    ways: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batches = history(small, disorder)
    slid = taken(batches, small, tmp_path if mapped else None)
    assert len(slid) > 3 * PAYMENTS
    # where some come late: in order before them, and again once none of them is retained
    assert ways[0] == ways[-1] == "slide_sums"
    assert ("evaluate_sums" in ways) == bool(disorder)
    monkeypatch.setattr(HistoryColumns, "is_in_order", False)
    ways.clear()
    assert said(taken(batches, small)) == said(slid)
    assert set(ways) == {"evaluate_sums"}
