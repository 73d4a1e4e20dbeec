"""Chained definitions: their form, and the groups and anchor that follow from them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.oracle.builders.drafts import Branch, DraftTree, chained, definition_document
from tests.oracle.builders.registry import Registry
from tests.oracle.malformed.chains import wrong_chains
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json
from tests.oracle.values.rule_counts import Counts
from tests.unit.oracle.support.chains import (
    BOTH,
    CASH,
    LARGE,
    PAYEE,
    all_of,
    all_values,
    any_of,
    count,
    json_object,
    negate,
    outcome_of,
    total,
    values,
)
from tests.unit.oracle.support.timeline import pay, play


def test_a_normalised_definition() -> None:
    what = all_of(
        count(3, only=CASH),
        negate(any_of(total("1.5", by=BOTH, seconds=3600)).chain or count()),
        condition=LARGE,
        cooldown=5,
    )
    assert definition_document(what) == {
        "conditions": {
            "all": [
                {
                    "groupingKeyNames": ["payeeId"],
                    "aggregatorFunctionType": "COUNT",
                    "aggregateFieldName": None,
                    "limitOperatorType": ">=",
                    "limit": "3",
                    "windowSeconds": 60,
                    "filter": CASH,
                },
                {
                    "not": {
                        "any": [
                            {
                                "groupingKeyNames": ["beneficiaryId", "payeeId"],
                                "aggregatorFunctionType": "SUM",
                                "aggregateFieldName": "paymentAmount",
                                "limitOperatorType": ">",
                                "limit": "1.5",
                                "windowSeconds": 3600,
                            }
                        ]
                    }
                },
            ]
        },
        "firing": "every",
        "lateEvents": "evaluate",
        "precision": "exact",
        "filter": LARGE,
        "cooldownSeconds": 5,
    }


def with_definition(definition: Json) -> bytes:
    event = json.loads(Registry().publish(1, count(), 0, 0))
    event.update(definition=definition, definitionHash=definition_hash(definition))
    return json.dumps(event).encode()


@pytest.mark.parametrize("number", range(len(wrong_chains(definition_document(count())))))
def test_what_is_refused_is_skipped_and_takes_no_position(number: int) -> None:
    wrong = with_definition(wrong_chains(definition_document(count()))[number])
    outcome = play(wrong, Registry().publish(2, count(), 0, 0), pay(1, 0))
    assert ([alert["ruleId"] for alert in outcome.alerts], outcome.skipped_rule_events) == ([2], 1)


def deep(levels: int) -> DraftTree:
    return count() if levels == 1 else negate(deep(levels - 1))


@pytest.mark.parametrize(
    ("tree", "skipped"),
    [
        (deep(6), 0),
        (deep(7), 1),
        (Branch("any", (count(),) * 16), 0),
        (Branch("any", (count(),) * 17), 1),
        (Branch("all", (Branch("any", (count(),) * 8), Branch("any", (count(),) * 9))), 1),
        (count(by=()), 0),
        (negate(count(by=())), 0),
        (Branch("any", (count(by=()), count(by=()))), 1),
        (Branch("any", (count(by=BOTH), count(by=("payeeId", "paymentType")))), 0),
        (Branch("any", (count(by=BOTH), count(by=PAYEE), count(by=("beneficiaryId",)))), 1),
    ],
)
def test_bounds_and_groupings(tree: DraftTree, skipped: int) -> None:
    outcome = outcome_of(chained(tree), pay(1, 0))
    assert outcome.skipped_rule_events == skipped
    if skipped:
        assert outcome.counts == {}
    else:
        assert outcome.counts == {1: Counts(evaluations=1)}


@pytest.mark.parametrize(
    ("options", "skipped"),
    [
        ({"firing": "crossing"}, 0),
        ({"cooldown": 5}, 0),
        ({"late_events": "store"}, 0),
        ({"reset_on_alert": True}, 1),
        ({"late_events": "reevaluate"}, 1),
    ],
)
def test_the_options_it_goes_with(options: dict[str, Any], skipped: int) -> None:
    outcome = outcome_of(all_of(count(), count(), **options), pay(1, 0))
    assert (outcome.skipped_rule_events, len(outcome.alerts)) == (skipped, 1 - skipped)


def test_nothing_said_beside_the_conditions_is_the_default() -> None:
    document = definition_document(all_of(count()))
    definition: Json = {"conditions": document["conditions"], "filter": None, "resetOnAlert": False}
    assert len(play(with_definition(definition), pay(1, 0)).alerts) == 1


def test_the_tree_decides() -> None:
    yes, never = count(1), count(99)
    table: list[tuple[DraftTree, bool]] = [
        (yes, True),
        (never, False),
        (negate(never), True),
        (negate(yes), False),
        (Branch("all", (yes, never)), False),
        (Branch("any", (never, yes)), True),
        (Branch("any", (never, never)), False),
        (Branch("all", (yes, negate(Branch("any", (never, negate(yes)))))), True),
        (Branch("any", (never, Branch("all", (yes, negate(yes))))), False),
    ]
    for tree, expected in table:
        outcome = outcome_of(chained(tree), pay(1, 0))
        assert bool(outcome.alerts) is expected, tree
        for alert in outcome.alerts:
            assert values(alert, "holds") == [limit == "1" for limit in values(alert, "limit")]


def test_the_group_is_the_union_of_the_groupings() -> None:
    what = all_of(count(by=("payeeId", "paymentType")), count(by=BOTH))
    (alert,) = outcome_of(what, pay(1, 0)).alerts
    assert alert["group"] == {"beneficiaryId": "12", "payeeId": "25", "paymentType": "CSH"}
    assert list(json_object(alert["group"])) == ["beneficiaryId", "payeeId", "paymentType"]


def test_the_anchor_is_that_of_the_shared_fields() -> None:
    """By beneficiary: t1 is new there with another beneficiary, and no duplicate, though its payee is the same."""
    what = all_of(count(by=BOTH), count(by=("beneficiaryId",)))
    outcome = outcome_of(what, pay(1, 0), pay(1, 1, beneficiaryId=13), pay(1, 2, payeeId=7))
    assert all_values(outcome) == [["1", "1"], ["1", "1"]]
    assert outcome.counts == {1: Counts(evaluations=2, duplicates=1)}


def test_where_they_share_no_anchor_it_is_the_global_one() -> None:
    what = all_of(count(by=("payeeId", "paymentType")), count(by=("beneficiaryId", "paymentType")))
    outcome = outcome_of(what, pay(1, 0), pay(1, 1, payeeId=7, beneficiaryId=13))
    assert outcome.counts == {1: Counts(evaluations=1, duplicates=1)}
