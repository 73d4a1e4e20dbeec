"""Bucketed definitions (decision 0038): what bucketed precision goes with."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.oracle.builders.drafts import Branch, Draft, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json
from tests.unit.oracle.support.buckets import CASH, by_buckets
from tests.unit.oracle.support.hour_timeline import pay, play


@pytest.mark.parametrize(
    "more",
    [
        {"precision": "bucketed(10)", "resetOnAlert": True},
        {"precision": "bucketed(10)", "lateEvents": "reevaluate"},
        {
            "precision": "bucketed(10)",
            "aggregatorFunctionType": "COUNT_DISTINCT",
            "aggregateFieldName": "payeeId",
        },
        {"precision": "bucketed(61)"},
        {"precision": "bucketed(0)"},
        {"precision": "bucketed(1)", "windowSeconds": 10_001},
    ],
)
def test_refused(more: dict[str, Json]) -> None:
    event = json.loads(Registry().publish(1, by_buckets(), 0, 0))
    event["definition"].update(more)
    event["definitionHash"] = definition_hash(event["definition"])
    outcome = play(json.dumps(event).encode(), pay(1, 0))
    assert (outcome.skipped_rule_events, outcome.alerts) == (1, [])


def test_refused_for_any_of_several_conditions() -> None:
    one, wide = by_buckets(), by_buckets(seconds=100_001)
    distinct = draft("COUNT_DISTINCT", ">=", "0", by=("payeeId",), seconds=60, field="beneficiaryId")
    for other, bucket in ((distinct, 10), (wide, 10), (one, 61)):
        several = replace(chained(Branch("any", (one, other))), bucket=bucket)
        outcome = play(Registry().publish(1, several, 0, 0), pay(1, 0))
        assert (outcome.skipped_rule_events, outcome.alerts) == (1, [])


@pytest.mark.parametrize(
    "what",
    [
        by_buckets(bucket=60),
        by_buckets(seconds=10_000, bucket=1),
        by_buckets(firing="crossing", cooldown=60),
        by_buckets(late_events="store", only=CASH),
        replace(chained(Branch("any", (by_buckets(), by_buckets(seconds=20)))), bucket=20),
    ],
)
def test_all_else_goes_with_it(what: Draft) -> None:
    outcome = play(Registry().publish(1, what, 0, 0), pay(1, 0))
    assert (outcome.skipped_rule_events, len(outcome.alerts)) == (0, 1)
