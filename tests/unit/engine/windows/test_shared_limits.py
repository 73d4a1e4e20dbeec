"""Rules that differ by their limits alone: compared with the loosest limit first, they give the same alerts."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.model import MicroBatch
from tests.unit.engine.backtest.test_backtest import said
from tests.unit.engine.support.shard_harness import Engine
from tripline_engine.domain.firing import shared_limits
from tripline_engine.domain.rules import threshold
from tripline_engine.domain.rules.threshold import Threshold
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING, ShardTuning

START = 1_700_000_000_000
PAYMENTS, LIMITS = 200, 8
NEVER = 1 << 30


def sweep(function: str, operator: str, first: int = -2) -> list[MicroBatch]:
    """Limits of which values are on both sides, and some equal to them; two windows, and other rules amid them."""
    registry, random = Registry(), Random(1)
    limits = range(first, first + LIMITS)
    drafts = [draft(function, operator, str(limit), by=("payeeId",)) for limit in limits]
    drafts += [draft(function, operator, str(limit), by=("payeeId",), seconds=60) for limit in limits[:3]]
    drafts.append(draft(function, "=", "3", by=("payeeId",)))
    # its windows are others, and it comes first
    drafts.insert(
        0, draft(function, operator, str(first), by=("payeeId",), reset=function in ("SUM", "COUNT"))
    )
    events = [registry.publish(rule_id, one, 0, START) for rule_id, one in enumerate(drafts, 1)]
    records = [
        payment(n, START + 1_000 * n + random.choice([0, 0, -30_000]), str(random.randint(-3, 5)),
                more={"payeeId": random.randint(1, 20)})
        for n in range(PAYMENTS)
    ]  # fmt: skip
    half = PAYMENTS // 2
    return [batch(events=events, ticks=[START]), batch(records=records[:half]), batch(records=records[half:])]


def shared_from(rows: int) -> ShardTuning:
    return replace(DEFAULT_TUNING, anchor=replace(DEFAULT_TUNING.anchor, shared_rows=rows))


def alerts(batches: list[MicroBatch], rows: int) -> list[dict[str, Any]]:
    return Engine(tuning=shared_from(rows)).run(batches)


@pytest.mark.parametrize("function", ["SUM", "COUNT", "AVG", "MIN", "MAX"])
@pytest.mark.parametrize("operator", [">", ">=", "<", "<=", "!="])
def test_alerts_are_the_same(function: str, operator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_limits, "_RARE", 1)
    batches = sweep(function, operator)
    one_by_one = alerts(batches, NEVER)
    assert said(alerts(batches, 0)) == said(one_by_one)
    by_rule = {rule: sum(alert["ruleId"] == rule for alert in one_by_one) for rule in range(2, LIMITS + 2)}
    assert len(set(by_rule.values())) > 3, "limits make a difference"


def test_few_rows_are_compared_with_the_other_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    matches = Threshold.matches

    def counted(self: Threshold, function: Any, counts: np.ndarray, *words: Any) -> Any:
        compared.append(len(counts))
        return matches(self, function, counts, *words)

    monkeypatch.setattr(threshold.Threshold, "matches", counted)
    monkeypatch.setattr(shared_limits, "_RARE", 1)
    rows = {shared: (alerts(sweep("SUM", ">", 25)[:2], shared), sum(compared)) for shared in (NEVER, 0)}
    assert said(rows[0][0]) == said(rows[NEVER][0])
    assert rows[0][0]
    one_by_one, shared = rows[NEVER][1], rows[0][1] - rows[NEVER][1]
    assert one_by_one >= (LIMITS + 3 + 2) * PAYMENTS // 2
    assert shared < one_by_one / 3


def test_a_loosest_limit_that_spares_nothing_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_limits, "_RARE", 1)
    batches = sweep("COUNT", ">=")[:2]
    rare = alerts(batches, 0)
    monkeypatch.setattr(shared_limits, "_RARE", PAYMENTS + 1)
    assert said(alerts(batches, 0)) == said(rare) != []


@pytest.mark.parametrize("rows", [0, 1 << 12])
def test_a_rule_alone_is_compared_with_its_own_limit(rows: int) -> None:
    registry = Registry()
    event = registry.publish(1, draft("SUM", ">", "2", by=("payeeId",)), 0, START)
    given = alerts([batch(events=[event], ticks=[START]), batch(records=[payment(1, START, "3")])], rows)
    assert [alert["value"] for alert in given] == ["3"]
