"""Named lists and parameters: what a name is, what a list and a parameter may hold, how a limit refers to one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tripline_contracts import event_type_loader, schemas
from tripline_contracts.errors import InvalidDefinition, InvalidNamedValue, Problem
from tripline_contracts.filters import named_values
from tripline_contracts.filters.named_values import Parameter
from tripline_contracts.rules import rule_definition

TRANSACTION = event_type_loader.load()
BY_PARAMETER: dict[str, Any] = {
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "COUNT",
    "limitOperatorType": ">",
    "limit": {"parameter": "most"},
    "windowSeconds": 60,
}


def refused(read: Any, value: object) -> Problem:
    with pytest.raises(InvalidNamedValue) as error:
        read(value)
    (problem,) = error.value.problems
    return problem


@pytest.mark.parametrize("name", ["a", "Z", "watched-payees", "A_1", "a" * 64])
def test_a_name(name: str) -> None:
    assert named_values.read_name(name) == name
    assert named_values.is_name(name)


@pytest.mark.parametrize("name", ["", "1a", "-a", "_a", "a b", "a.b", "é", "a\n", "a" * 65, 5, None, ["a"]])
def test_no_name(name: object) -> None:
    problem = refused(named_values.read_name, name)
    assert (problem.field, "a letter first" in problem.message) == ("name", True)
    assert not named_values.is_name(name)


LISTS: list[tuple[Any, tuple[str, ...], str]] = [
    ([], (), "an empty list"),
    (["b", "a", "b"], ("a", "b"), "sorted, each once"),
    ([25, "25", "9", -1], ("-1", "25", "9"), "an integer is its decimal text; texts ascend"),
    (["\U0001f600", "\uff5e"], ("\uff5e", "\U0001f600"), "by code point, not by UTF-16 unit"),
    (["é" * 64, " a"], (" a", "é" * 64), "64 code points; spaces are kept"),
    (["a"] * 10_001, ("a",), "repeated values count once"),
    ([str(i) for i in range(10_000)], tuple(sorted(str(i) for i in range(10_000))), "the most values"),
]


@pytest.mark.parametrize(("values", "meant", "reason"), LISTS, ids=[case[-1] for case in LISTS])
def test_a_list(values: Any, meant: tuple[str, ...], reason: str) -> None:
    assert named_values.read_list(values) == meant, reason


NO_LISTS: list[tuple[Any, str, str, str]] = [
    (None, "values", "not None", "nothing"),
    ("a", "values", "not 'a'", "a text"),
    ({"a": 1}, "values", "not an object", "an object"),
    (["a", ""], "values[1]", "1 to 64", "an empty text"),
    (["a" * 65], "values[0]", "1 to 64", "a text that is too long"),
    (["a\0"], "values[0]", "U+0000", "Postgres could not store it"),
    (["\udc00"], "values[0]", "lone surrogates", "no encoding has it"),
    ([None], "values[0]", "not None", "null"),
    ([True], "values[0]", "not True", "true is not 1"),
    ([1.5], "values[0]", "not 1.5", "a fraction"),
    ([str(i) for i in range(10_001)], "values", "at most 10000", "too many"),
    (
        [f"{i:04}" + "\U0001f600" * 60 for i in range(2_200)],
        "values",
        "at most 524288 bytes",
        "too large for an event",
    ),
]


@pytest.mark.parametrize(("values", "field", "said", "reason"), NO_LISTS, ids=[case[-1] for case in NO_LISTS])
def test_no_list(values: Any, field: str, said: str, reason: str) -> None:
    problem = refused(named_values.read_list, values)
    assert problem.field == field, reason
    assert said in problem.message


@pytest.mark.parametrize(
    ("value", "meant"), [("1.50", "1.5"), (0, "0"), ("-1e3", "-1000"), (Decimal("0.000001"), "0.000001")]
)
def test_a_parameter(value: Any, meant: str) -> None:
    assert named_values.read_parameter(value) == Decimal(meant)


@pytest.mark.parametrize(
    "value", [None, "", "x", "1e18", "0.0000001", 0.5, True, [1], {"parameter": "a"}, "(5)"]
)
def test_no_parameter(value: object) -> None:
    assert refused(named_values.read_parameter, value).field == "value"


def test_a_limit_by_parameter() -> None:
    definition = rule_definition.parse(BY_PARAMETER, TRANSACTION)
    assert definition.limit == Parameter("most")
    assert definition.to_json()["limit"] == {"parameter": "most"}
    assert rule_definition.parse(definition.to_json(), TRANSACTION) == definition
    schemas.validator("rule-definition")(definition.to_json())
    assert definition.hash != rule_definition.parse({**BY_PARAMETER, "limit": 5}, TRANSACTION).hash


def test_the_names_of_filter_and_limit_together() -> None:
    passing = {"any": [{"field": "payeeId", "in": {"list": "watched"}},
                       {"field": "paymentAmount", "operator": ">", "value": {"parameter": "high"}}]}  # fmt: skip
    definition = rule_definition.parse({**BY_PARAMETER, "filter": passing}, TRANSACTION)
    assert definition.lists == {"watched"}
    assert definition.parameters == {"high", "most"}
    plain = rule_definition.parse({**BY_PARAMETER, "limit": 5}, TRANSACTION)
    assert (plain.lists, plain.parameters) == (frozenset(), frozenset())


@pytest.mark.parametrize(
    "limit",
    [{}, {"parameter": ""}, {"parameter": None}, {"list": "most"}, {"parameter": "a", "b": 1}, {5: "a"}],
)
def test_a_limit_by_what_is_no_parameter(limit: object) -> None:
    with pytest.raises(InvalidDefinition) as error:
        rule_definition.parse({**BY_PARAMETER, "limit": limit}, TRANSACTION)
    (problem,) = error.value.problems
    assert problem.field == "limit"
    assert '{"parameter": name}' in problem.message
