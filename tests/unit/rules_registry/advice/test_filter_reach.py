"""What nothing passes, against a search through all that a small world has."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules_registry.domain.advice.filter_reach import MOST_WAYS, NamesNow, ways
from tripline_contracts import event_type_loader
from tripline_contracts.filters import filter_parser

TYPE = event_type_loader.load()
LISTS: dict[str, tuple[str, ...]] = {"none": (), "a-b": ("a", "b"), "one": ("1",)}
PARAMETERS = {"one": Decimal(1)}
NAMES = NamesNow(LISTS.get, PARAMETERS.get)
COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
AMOUNTS = [Decimal(text) for text in ("-1", "0", "0.5", "1", "1.5", "2", "3")]
WORLD = [
    {"payeeId": payer, "paymentType": kind, "paymentAmount": amount}
    for payer, kind, amount in itertools.product((None, "a", "b", "c"), ("CSH", "CRD"), AMOUNTS)
]
"""Each text of the filters and one more, each number of theirs, one between any two and one on either side."""

COMPARISONS = st.one_of(
    st.builds(
        lambda sign, value: {"field": "paymentAmount", "operator": sign, "value": value},
        st.sampled_from(list(COMPARE)),
        st.sampled_from(["0", "1", "2", {"parameter": "one"}]),
    ),
    st.builds(
        lambda sign, value: {"field": "payeeId", "operator": sign, "value": value},
        st.sampled_from(["=", "!="]),
        st.sampled_from(["a", "b"]),
    ),
    st.builds(
        lambda sign, value: {"field": "paymentType", "operator": sign, "value": value},
        st.sampled_from(["=", "!="]),
        st.sampled_from(["CSH", "CRD"]),
    ),
    st.sampled_from(
        [
            {"field": "payeeId", "in": ["a"]},
            {"field": "payeeId", "in": {"list": "a-b"}},
            {"field": "payeeId", "in": {"list": "none"}},
            {"field": "paymentAmount", "in": ["0", "2"]},
            {"field": "paymentType", "in": ["CSH", "CRD"]},
            {"field": "payeeId", "isNull": True},
            {"field": "paymentType", "isNull": True},
        ]
    ),
)
TREES = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        inner.map(lambda tree: {"not": tree}),
        st.lists(inner, min_size=1, max_size=3).map(lambda trees: {"all": trees}),
        st.lists(inner, min_size=1, max_size=3).map(lambda trees: {"any": trees}),
    ),
    max_leaves=7,
)


def passes(tree: dict[str, Any], transaction: dict[str, Any]) -> bool:
    if "not" in tree:
        return not passes(tree["not"], transaction)
    for word, combine in (("all", all), ("any", any)):
        if word in tree:
            return combine(passes(operand, transaction) for operand in tree[word])
    value = transaction[tree["field"]]
    if "isNull" in tree:
        return value is None
    if value is None:
        return False
    if "in" in tree:
        among = LISTS[tree["in"]["list"]] if isinstance(tree["in"], dict) else tree["in"]
        return str(value) in among
    constant = tree["value"]
    if tree["field"] == "paymentAmount":
        constant = PARAMETERS[constant["parameter"]] if isinstance(constant, dict) else Decimal(constant)
    return COMPARE[tree["operator"]](value, constant)


def read(tree: dict[str, Any]) -> Any:
    parsed, problems = filter_parser.read(tree, TYPE)
    assert parsed is not None, problems
    return parsed


@given(TREES)
def test_a_filter_has_no_way_to_pass_it_if_nothing_passes_and_only_then(tree: dict[str, Any]) -> None:
    possible = ways([read(tree)], TYPE, NAMES)
    assert possible is not None
    assert (possible == []) == (not any(passes(tree, transaction) for transaction in WORLD))


@given(TREES, TREES)
def test_two_filters_have_to_be_passed_together(first: dict[str, Any], second: dict[str, Any]) -> None:
    both = ways([read(first), read(second)], TYPE, NAMES)
    nothing = not any(passes(first, one) and passes(second, one) for one in WORLD)
    assert both is None or (both == []) == nothing


TESTS: list[tuple[dict[str, Any], str]] = [
    ({"field": "payeeId", "operator": "=", "otherField": "beneficiaryId"}, "beneficiaryId"),
    ({"field": "payeeId", "startsWith": "a"}, "payeeId"),
]


@pytest.mark.parametrize(("test", "nullable"), TESTS)
def test_tests_whose_values_are_not_told_apart_still_leave_no_null(
    test: dict[str, Any], nullable: str
) -> None:
    null = {"field": nullable, "isNull": True}
    assert ways([read({"all": [test, null]})], TYPE, NAMES) == []
    assert ways([read({"all": [{"not": test}, null]})], TYPE, NAMES) != []
    assert ways([read({"all": [test, {"not": null}]})], TYPE, NAMES) != []


@pytest.mark.parametrize(
    "test",
    [
        {"field": "paymentAmount", "multipleOf": "100"},
        {"localTime": {"zone": "UTC", "from": "22:00", "to": "06:00"}},
    ],
)
def test_round_numbers_and_times_of_day_leave_something_either_way(test: dict[str, Any]) -> None:
    assert ways([read(test)], TYPE, NAMES) != []
    assert ways([read({"not": test})], TYPE, NAMES) != []


def test_no_filter_is_passed_by_all() -> None:
    assert ways([None], TYPE, NAMES) == [{}]


def test_a_filter_with_very_many_ways_is_not_looked_at() -> None:
    either: dict[str, Any] = {
        "any": [{"field": "paymentType", "operator": "=", "value": kind} for kind in ("CSH", "CRD")]
    }
    assert ways([read({"all": [either] * 8})], TYPE, NAMES) is not None
    assert MOST_WAYS < 2**9
    assert ways([read({"all": [either] * 9})], TYPE, NAMES) is None


def test_a_filter_whose_ways_compare_with_very_many_constants_is_not_looked_at() -> None:
    asked: list[str] = []

    def values_of(name: str) -> list[str]:
        asked.append(name)
        return [f"account-{i}" for i in range(10_000)]

    names = NamesNow(values_of, PARAMETERS.get)
    either: dict[str, Any] = {
        "any": [{"field": "paymentType", "operator": "=", "value": kind} for kind in ("CSH", "CRD")]
    }
    listed = [{"field": "payeeId", "in": {"list": f"list-{i}"}} for i in range(100)]
    assert ways([read(listed[0])], TYPE, names) is not None
    assert ways([read({"all": [either, either, listed[0]]})], TYPE, names) is not None
    asked.clear()
    assert ways([read({"all": [*[either] * 8, *listed]})], TYPE, names) is None
    assert len(asked) < 10, "lists are read though it is too much already"
    said = [{"field": "payeeId", "in": [f"{i}-{j}" for j in range(500)]} for i in range(3)]
    assert ways([read({"all": [*[either] * 8, *said]})], TYPE, names) is None


def test_a_name_that_has_no_value_takes_nothing_away() -> None:
    unknown = NamesNow(lambda _: None, lambda _: None)
    tree = {"all": [{"field": "payeeId", "in": {"list": "none"}}, {"field": "paymentAmount", "operator": ">",
            "value": {"parameter": "one"}}]}  # fmt: skip
    assert ways([read(tree)], TYPE, unknown) == [ways([read(tree)], TYPE, unknown)[0]]  # type: ignore[index]
    assert ways([read(tree)], TYPE, NAMES) == []
