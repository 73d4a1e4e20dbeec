"""Weighted conditions of a chained rule, each sentence by a case small enough to do by hand."""

from __future__ import annotations

import pytest

from tests.oracle.builders.drafts import Branch, Draft, DraftTree, chained
from tests.oracle.builders.registry import Registry
from tests.oracle.values.model import Json
from tests.unit.oracle.support.chains import BOTH, all_of, count, ids, negate, outcome_of, total
from tests.unit.oracle.support.timeline import pay, play

HOLDS, FAILS = count(1), count(99)
LARGEST, LEAST = "9" * 18 + "." + "9" * 6, "0.000001"


def weigh(at_least: Json, *weighed: tuple[Json, DraftTree]) -> Branch:
    return Branch(
        "weighted", tuple(part for _, part in weighed), tuple(weight for weight, _ in weighed), at_least
    )


SUMS: list[tuple[str, list[tuple[Json, DraftTree]], bool, str, str]] = [
    ("60", [("30", HOLDS), ("30", HOLDS)], True, "60", "just enough"),
    ("60.000001", [("30", HOLDS), ("30", HOLDS)], False, "60", "a millionth short"),
    ("60", [("30", HOLDS), ("30", FAILS)], False, "30", "of those that hold"),
    ("10", [("30", HOLDS), ("-20", HOLDS)], True, "10", "weights may be negative"),
    ("10", [("30", HOLDS), ("-20.000001", HOLDS)], False, "9.999999", "a negative one takes it below"),
    ("10", [("30", HOLDS), ("-20", FAILS)], True, "30", "a negative one that does not hold takes nothing"),
    ("0", [("30", FAILS)], True, "0", "nothing is enough for nothing"),
    ("-5", [("-5", HOLDS)], True, "-5", "at least may be negative"),
    ("0", [("0", HOLDS)], True, "0", "a weight of nothing"),
    (LARGEST, [(LARGEST, HOLDS)] * 16, True, "15999999999999999999.999984", "sixteen of the greatest"),
    (LEAST, [(LARGEST, HOLDS), ("-" + LARGEST, HOLDS), (LEAST, HOLDS)], True, LEAST, "no digit is lost"),
    ("-" + LARGEST, [("-" + LARGEST, HOLDS)] * 2, False, "-1999999999999999999.999998", "two of the least"),
    ("30", [("30", negate(FAILS)), ("30", negate(HOLDS))], True, "30", "of what does not hold"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("at_least", "weighed", "holds", "total_weight", "reason"), SUMS, ids=[case[-1] for case in SUMS]
)
def test_it_holds_where_the_weights_of_what_holds_add_up(
    at_least: str, weighed: list[tuple[Json, DraftTree]], holds: bool, total_weight: str, reason: str
) -> None:
    tree = weigh(at_least, *weighed)
    assert len(outcome_of(chained(tree), pay(1, 0)).alerts) == holds, reason
    # under `not`, what does not hold alerts, and its alert tells the sum all the same
    (alert,) = outcome_of(chained(tree if holds else negate(tree)), pay(1, 0)).alerts
    assert [(one["sum"], one["atLeast"], one["holds"]) for one in told(alert)] == [
        (total_weight, at_least, holds)
    ]


def test_the_alert_tells_the_sum_and_which_held() -> None:
    inner = weigh("1", ("1", total("5", by=BOTH)), ("0.5", FAILS))
    what = all_of(HOLDS, weigh("60", ("40.50", Branch("any", (FAILS, HOLDS))), ("19.5", negate(inner))))
    (alert,) = outcome_of(what, pay(1, 0, "4")).alerts
    assert told(alert) == [
        {
            "sum": "60",
            "atLeast": "60",
            "holds": True,
            "weights": [
                {"weight": "40.5", "holds": True, "conditions": [2, 3]},
                {"weight": "19.5", "holds": True, "conditions": [4, 5]},
            ],
        },
        {
            "sum": "0",
            "atLeast": "1",
            "holds": False,
            "weights": [
                {"weight": "1", "holds": False, "conditions": [4]},
                {"weight": "0.5", "holds": False, "conditions": [5]},
            ],
        },
    ]


def test_other_chained_alerts_tell_no_weights() -> None:
    (alert,) = outcome_of(all_of(HOLDS), pay(1, 0)).alerts
    assert "weighted" not in alert


def test_parameters_weigh_as_they_stood_at_acceptance() -> None:
    tree = weigh({"parameter": "enough"}, ({"parameter": "much"}, HOLDS), ("1", HOLDS))
    registry = Registry()
    outcome = play(
        registry.publish(1, chained(tree), 0, 0),
        pay(1, 0),
        registry.change_parameter("much", "4", 0),
        pay(2, 1),
        registry.change_parameter("enough", "5", 0),
        pay(3, 2),
        registry.change_parameter("enough", "5.000001", 0),
        pay(4, 3),
        registry.change_parameter("much", "4.1", 0),
        pay(5, 4),
    )
    assert ids(outcome) == ["t3", "t5"]
    assert [told(alert)[0]["sum"] for alert in outcome.alerts] == ["5", "5.1"]


@pytest.mark.parametrize("unknown", ["weight", "atLeast"])
def test_without_a_value_of_a_parameter_it_does_not_hold_and_its_not_does(unknown: str) -> None:
    never: Json = {"parameter": "never-said"}
    tree = weigh(*(("-9", (never, FAILS)) if unknown == "weight" else (never, ("1", FAILS))))
    assert outcome_of(chained(tree), pay(1, 0)).alerts == []
    (alert,) = outcome_of(chained(negate(tree)), pay(1, 0)).alerts
    (one,) = told(alert)
    assert (one["sum"], one["atLeast"], one["holds"]) == (
        (None, "-9", False) if unknown == "weight" else ("0", None, False)
    )


def test_weights_go_with_every_option_of_a_chained_rule() -> None:
    tree = weigh("2", ("1", count(2)), ("1", total("3")))
    records = [pay(1, 0, "2"), pay(2, 1, "2"), pay(3, 2, "2"), pay(4, 200), pay(5, 201, "9")]
    what: list[tuple[Draft, list[str]]] = [
        (chained(tree), ["t2", "t3", "t5"]),
        (all_of(tree, firing="crossing"), ["t2", "t5"]),
        (all_of(tree, cooldown=201), ["t2"]),
        (all_of(tree, bucket=10), ["t2", "t3", "t5"]),
    ]
    for draft, alerted in what:
        assert ids(outcome_of(draft, *records)) == alerted


def told(alert: dict[str, Json]) -> list[dict[str, Json]]:
    weighted = alert["weighted"]
    assert isinstance(weighted, list)
    return [one for one in weighted if isinstance(one, dict)]
