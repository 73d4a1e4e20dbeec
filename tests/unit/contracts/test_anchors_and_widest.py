"""Which anchor a rule runs on, and how far back its grouping's history reaches."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripline_contracts import event_type_loader
from tripline_contracts.rules.anchors import anchor_of
from tripline_contracts.rules.rule_definition import RuleDefinition
from tripline_contracts.rules.widest_windows import widest_windows

# a deadline per example would measure how busy the machine is
UNHURRIED = settings(deadline=None)

TRANSACTION = event_type_loader.load()


def rule(window_seconds: int, *grouping: str) -> RuleDefinition:
    return RuleDefinition(tuple(sorted(grouping)), "SUM", "paymentAmount", ">", Decimal(1), window_seconds)


ANCHORS: list[tuple[tuple[str, ...], str, str]] = [
    (("payeeId",), "payeeId", "the first anchor itself"),
    (("beneficiaryId", "payeeId"), "payeeId", "the first of two that fit, not of two names"),
    (("beneficiaryId", "paymentType"), "beneficiaryId", "the only one that fits"),
    (("paymentType",), "global", "none fits"),
    ((), "global", "no key"),
]


@pytest.mark.parametrize(("grouping", "anchor", "reason"), ANCHORS, ids=[case[-1] for case in ANCHORS])
def test_anchor(grouping: tuple[str, ...], anchor: str, reason: str) -> None:
    assert anchor_of(rule(60, *grouping), TRANSACTION) == anchor, reason


def test_widest_window_per_grouping() -> None:
    rules = [
        (12, 3, rule(1200, "payeeId", "beneficiaryId")),
        (13, 1, rule(60)),
        (14, 2, rule(2592000, "beneficiaryId", "payeeId")),
        (15, 1, rule(30, "beneficiaryId")),
    ]
    assert widest_windows(rules) == [
        {"groupingKeyNames": [], "windowSeconds": 60, "ruleId": 13, "version": 1},
        {"groupingKeyNames": ["beneficiaryId"], "windowSeconds": 30, "ruleId": 15, "version": 1},
        {
            "groupingKeyNames": ["beneficiaryId", "payeeId"],
            "windowSeconds": 2592000,
            "ruleId": 14,
            "version": 2,
        },
    ]


def test_of_equal_windows_the_lowest_id_is_named_then_the_lowest_version() -> None:
    rules = [(9, 1, rule(60)), (2, 5, rule(60)), (2, 4, rule(60))]
    assert widest_windows(rules) == [{"groupingKeyNames": [], "windowSeconds": 60, "ruleId": 2, "version": 4}]


def test_no_rules() -> None:
    assert widest_windows([]) == []


RULES = st.lists(
    st.tuples(
        st.integers(1, 5),
        st.integers(1, 5),
        st.builds(
            lambda window, names: rule(window, *names), st.integers(1, 9), st.sets(st.sampled_from("abc"))
        ),
    ),
    max_size=8,
)


@UNHURRIED
@given(RULES, st.data())
def test_the_order_of_the_rules_changes_nothing(
    rules: list[tuple[int, int, RuleDefinition]], data: st.DataObject
) -> None:
    assert widest_windows(data.draw(st.permutations(rules))) == widest_windows(rules)


@UNHURRIED
@given(RULES)
def test_every_rule_is_covered_by_one_of_its_grouping(rules: list[tuple[int, int, RuleDefinition]]) -> None:
    widest: dict[tuple[str, ...], dict[str, Any]] = {}
    for entry in widest_windows(rules):
        names = entry["groupingKeyNames"]
        assert isinstance(names, list)
        widest[tuple(names)] = entry
    assert set(widest) == {definition.grouping_key_names for _, _, definition in rules}
    for grouping, entry in widest.items():
        windows = [
            definition.window_seconds
            for _, _, definition in rules
            if definition.grouping_key_names == grouping
        ]
        assert entry["windowSeconds"] == max(windows)
