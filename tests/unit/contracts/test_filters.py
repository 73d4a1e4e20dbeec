"""Filters: what is read, what it is kept as, what is refused and where, and that no JSON gets past the bounds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.contracts.support.strategies import filters_of
from tripline_contracts import event_type_loader, schemas
from tripline_contracts.canonical import canonical_json
from tripline_contracts.errors import InvalidDefinition, Problem, SchemaViolation
from tripline_contracts.filters import filter_parser
from tripline_contracts.filters.filter_parser import (
    All,
    Any_,
    Comparison,
    Filter,
    ListMembership,
    Membership,
    Not,
    ParameterComparison,
)

# a deadline per example would measure how busy the machine is
UNHURRIED = settings(deadline=None)
TRANSACTION = event_type_loader.load()
CASH: dict[str, Any] = {"field": "paymentType", "operator": "=", "value": "CSH"}
IS_CASH = Comparison("paymentType", "=", "CSH")


def compared(field: object, operator: object, value: object) -> dict[str, object]:
    return {"field": field, "operator": operator, "value": value}


def listed(field: object, constants: object) -> dict[str, object]:
    return {"field": field, "in": constants}


def parse(data: object) -> Filter:
    return filter_parser.parse(data, TRANSACTION)


def problems(data: object) -> list[Problem]:
    with pytest.raises(InvalidDefinition) as refused:
        parse(data)
    assert refused.value.problems
    return refused.value.problems


READ: list[tuple[dict[str, Any], Filter, str]] = [
    (CASH, IS_CASH, "an enum"),
    (compared("paymentType", "NOT_EQUAL", "CRD"), Comparison("paymentType", "!=", "CRD"), "an operator's name"),
    (compared("PAYMENTTYPE", "(equal)", "CSH"), IS_CASH, "field and operator in any case"),
    ({"Field": "paymentType", "OPERATOR": "=", "Value": "CSH"}, IS_CASH, "keys in any case"),
    (compared("payerId", "=", "25"), Comparison("payeeId", "=", "25"), "the articles' other name of payeeId"),
    (compared("payeeId", "=", 25), Comparison("payeeId", "=", "25"), "an integer is its decimal text"),
    (compared("payeeId", "=", -0), Comparison("payeeId", "=", "0"), "minus zero is 0"),
    (compared("payeeId", "=", " 25"), Comparison("payeeId", "=", " 25"), "spaces in a text are kept"),
    (compared("payeeId", "!=", "é" * 64), Comparison("payeeId", "!=", "é" * 64), "64 characters, not bytes"),
    (compared("paymentAmount", ">=", "1e3"), Comparison("paymentAmount", ">=", "1000"), "the value counts"),
    (compared("paymentAmount", "<", Decimal("0.10")), Comparison("paymentAmount", "<", "0.1"), "a Decimal"),
    (compared("paymentAmount", "=", -5), Comparison("paymentAmount", "=", "-5"), "a negative integer"),
    (compared("paymentAmount", "=", "-0.0"), Comparison("paymentAmount", "=", "0"), "minus zero"),
    (compared("paymentAmount", ">", "999999999999999999.999999"),
     Comparison("paymentAmount", ">", "999999999999999999.999999"), "the greatest decimal, exactly"),
    (compared("eventTime", "<=", 0), Comparison("eventTime", "<=", 0), "the first time"),
    (compared("ingestionTimestamp", "GREATER", 253402300799999),
     Comparison("ingestionTimestamp", ">", 253402300799999), "the last time"),
    (compared("eventTime", "=", Decimal("1.5e3")), Comparison("eventTime", "=", 1500), "a whole number, spelled so"),
    (listed("payerId", ["b", "a", 25, "25", "b"]), Membership("payeeId", ("25", "a", "b")), "sorted, each once"),
    (listed("paymentAmount", ["10", 9, "9.0", Decimal("-1.50")]), Membership("paymentAmount", ("-1.5", "9", "10")),
     "sorted by value, each value once"),
    (listed("eventTime", [10, 9, Decimal("1e1")]), Membership("eventTime", (9, 10)), "times, sorted by value"),
    (listed("paymentType", ("CSH", "CRD")), Membership("paymentType", ("CRD", "CSH")), "a tuple is a list"),
    (listed("payerId", {"list": "watched"}), ListMembership("payeeId", "watched"), "a named list"),
    (listed("paymentType", {"LIST": "A-1_b"}), ListMembership("paymentType", "A-1_b"), "an enum in a named list"),
    (compared("paymentAmount", "GREATER", {"Parameter": "high"}), ParameterComparison("paymentAmount", ">", "high"),
     "a parameter, its key in any case"),
    ({"all": [CASH]}, All((IS_CASH,)), "all of one stays as it is"),
    ({"ANY": [{"not": CASH}, CASH, CASH]}, Any_((Not(IS_CASH), IS_CASH, IS_CASH)), "operands keep their order"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "meant", "reason"), READ, ids=[case[-1] for case in READ])
def test_read(data: dict[str, Any], meant: Filter, reason: str) -> None:
    assert parse(data) == meant, reason
    schemas.validator("filter")(meant.to_json())


TEXT, NUMBER = "1 to 64 characters", "decimal number"
REFUSED: list[tuple[Any, str, str, str]] = [
    ({}, "filter", "an empty object", "nothing said"),
    ([], "filter", "not a list", "no object"),
    ("paymentType = CSH", "filter", "all, any, not, or field", "text is never evaluated"),
    ({"all": [CASH], "any": [CASH]}, "filter", "not all with any", "two shapes at once"),
    ({"field": "paymentType", "operator": "="}, "filter", "not field with operator", "no value"),
    ({**CASH, "in": ["CSH"]}, "filter", "not field with in with", "a value and a list"),
    ({**CASH, "fields": 1}, "filter", "unknown 'fields'", "an unknown key is named"),
    ({**CASH, "FIELD": "payeeId"}, "filter", "given twice", "one key in two cases"),
    ({5: 5}, "filter", "unknown 5", "a key that is no text"),
    ({"all": []}, "filter.all", "1 to 256 filters", "all of nothing"),
    ({"any": {"0": CASH}}, "filter.any", "1 to 256 filters", "no list"),
    ({"any": [CASH] * 257}, "filter.any", "1 to 256 filters", "a list that is too long"),
    ({"not": [CASH]}, "filter.not", "not a list", "not takes one"),
    ({"not": None}, "filter.not", "not None", "not of nothing"),
    ({"all": [CASH, {"any": [compared("paymentType", "=", "csh")]}]}, "filter.all[1].any[0].value", "CSH, CRD",
     "a path leads to the place"),
    (compared("transactionId", "=", "t-1"), "filter.field", "payeeId, beneficiaryId", "the id is not compared"),
    (compared("iban", "=", "x"), "filter.field", "not 'iban'", "an undeclared field"),
    (compared(["payeeId"], "=", "x"), "filter.field", "not a list", "a field that is no text"),
    (compared("payeeId", ">", "x"), "filter.operator", "one of = != for payeeId", "texts have no order"),
    (compared("paymentType", "<=", "CSH"), "filter.operator", "one of = != for", "enums have no order"),
    (compared("paymentAmount", "=>", 1), "filter.operator", ">= <=", "a symbol turned round"),
    (compared("paymentAmount", None, 1), "filter.operator", "not None", "no operator"),
    (compared("payeeId", "=", None), "filter.value", "null is never true", "a comparison with null"),
    (compared("payeeId", "=", ""), "filter.value", TEXT, "an empty text is null"),
    (compared("payeeId", "=", "x" * 65), "filter.value", TEXT, "longer than any id"),
    (compared("payeeId", "=", True), "filter.value", "not True", "true is no text and no 1"),
    (compared("payeeId", "=", 10**18), "filter.value", "up to 18 digits", "an integer that is sent as text"),
    (compared("payeeId", "=", Decimal("1.5")), "filter.value", TEXT, "a fraction is no id"),
    (compared("payeeId", "=", "a\0"), "filter.value", "U+0000", "Postgres could not store it"),
    (compared("payeeId", "=", "\ud800"), "filter.value", "lone surrogates", "no encoding has it"),
    (compared("payeeId", "=", {"parameter": "p"}), "filter.value", "parameters are decimal", "a text has none"),
    (compared("eventTime", "<", {"parameter": "p"}), "filter.value", "parameters are decimal", "a time has none"),
    (compared("paymentAmount", "<", {"list": "p"}), "filter.value", "not 'list'", "a list where a number stands"),
    (compared("paymentAmount", "<", {}), "filter.value", "an object of 0", "a parameter without its name"),
    (compared("paymentAmount", "<", {"parameter": 5}), "filter.value", "not 5", "a name that is no text"),
    (compared("paymentAmount", "~", {"parameter": "p"}), "filter.operator", "not '~'", "the operator still counts"),
    (compared("paymentType", "=", "CHQ"), "filter.value", "CSH, CRD", "a value that the enum has not"),
    (compared("paymentType", "=", 1), "filter.value", "not 1", "an enum's values are texts"),
    (compared("paymentAmount", ">", 0.5), "filter.value", "not a float", "a float is not exact any more"),
    (compared("paymentAmount", ">", "1,5"), "filter.value", NUMBER, "no decimal"),
    (compared("paymentAmount", ">", "1e18"), "filter.value", "below 10^18", "too large"),
    (compared("paymentAmount", ">", "0.0000001"), "filter.value", "6 decimal places", "too fine"),
    (compared("paymentAmount", ">", False), "filter.value", NUMBER, "false is not 0"),
    (compared("paymentAmount", ">", Decimal("NaN")), "filter.value", "finite", "no number at all"),
    (compared("eventTime", ">", "5"), "filter.value", "whole number of ms", "a time is not sent as text"),
    (compared("eventTime", ">", -1), "filter.value", "0 to 2534", "before the epoch"),
    (compared("eventTime", ">", 253402300800000), "filter.value", "0 to 2534", "after the year 9999"),
    (compared("eventTime", ">", Decimal("0.5")), "filter.value", "whole number", "half a millisecond"),
    (compared("eventTime", ">", True), "filter.value", "not True", "true is not 1 ms"),
    (compared("eventTime", ">", 10**5000), "filter.value", "more than 30 digits", "a number beyond printing"),
    (listed("eventTime", [1, "2"]), "filter.in[1]", "whole number of ms", "a time as text in a list"),
    (listed("payeeId", []), "filter.in", "1 to 1000", "one of nothing"),
    (listed("payeeId", "suspects"), "filter.in", '{"list": name}', "a name alone is no list"),
    (listed("payeeId", {"list": "9lives"}), "filter.in", "a letter first", "a name that begins with a digit"),
    (listed("payeeId", {"list": "a" * 65}), "filter.in", "1 to 64 letters", "a name that is too long"),
    (listed("payeeId", {"list": "a", "parameter": "b"}), "filter.in", "an object of 2", "a list and a parameter"),
    (listed("payeeId", {"parameter": "a"}), "filter.in", "not 'parameter'", "a number where a list stands"),
    (listed("paymentAmount", {"list": "a"}), "filter.in", "lists hold texts", "an amount is no text"),
    (listed("eventTime", {"list": "a"}), "filter.in", "lists hold texts", "nor is a time"),
    (listed("payeeId", None), "filter.in", "1 to 1000", "no list"),
    (listed("payeeId", ["a"] * 1001), "filter.in", "1 to 1000", "a list that is too long"),
    (listed("payeeId", ["a", None]), "filter.in[1]", "null is never true", "null in a list"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "field", "said", "reason"), REFUSED, ids=[case[-1] for case in REFUSED])
def test_refused(data: Any, field: str, said: str, reason: str) -> None:
    (problem,) = problems(data)
    assert problem.field == field, reason
    assert said in problem.message, problem.message


def test_every_problem_at_once() -> None:
    wrong = {
        "all": [
            compared("iban", "=", "x"),
            CASH,
            compared("payeeId", ">", ""),
            {"not": listed("payeeId", [0.5, 1, ""])},
        ]
    }
    assert [problem.field for problem in problems(wrong)] == [
        "filter.all[0].field",
        "filter.all[2].value",
        "filter.all[2].operator",
        "filter.all[3].not.in[0]",
        "filter.all[3].not.in[2]",
    ]  # fmt: skip


def nested(word: str, levels: int) -> Any:
    data: Any = CASH
    for _ in range(levels - 1):
        data = {"not": data} if word == "not" else {word: [data]}
    return data


@pytest.mark.parametrize("word", ["all", "any", "not"])
def test_depth(word: str) -> None:
    assert parse(nested(word, filter_parser.MAX_DEPTH)).fields() == {"paymentType"}
    for levels in (filter_parser.MAX_DEPTH + 1, 100_000):
        (problem,) = problems(nested(word, levels))
        assert "nested more than 12 deep" in problem.message
        assert problem.field.count(f".{word}") == filter_parser.MAX_DEPTH - 1


def test_an_object_that_holds_itself_has_an_end() -> None:
    own: dict[str, Any] = {}
    own["all"] = [own, own]
    assert any("more than" in problem.message for problem in problems(own))


def test_the_number_of_comparisons() -> None:
    half = {"any": [CASH] * 128}
    assert parse({"all": [half, half]}).fields() == {"paymentType"}
    assert [problem.message for problem in problems({"all": [half, half, CASH]})] == [
        "more than 256 comparisons in one filter"
    ]


def test_the_number_of_constants() -> None:
    most = listed("payeeId", list(range(1000)))
    assert parse({"any": [most, most]}).fields() == {"payeeId"}
    for data in ({"any": [most, most, CASH]}, {"any": [most, most, listed("payeeId", ["1"])]}):
        assert [problem.message for problem in problems(data)] == ["more than 2000 constants in one filter"]


def test_the_number_of_problems() -> None:
    found = problems(listed("payeeId", [""] * 1000))
    assert len(found) == filter_parser.MOST_PROBLEMS + 1
    assert found[-1] == Problem("filter", "more problems than are listed")


def test_a_filter_within_the_bounds_fits_in_a_kafka_record() -> None:
    longest = [f"{i:03}" + "\U0001f600" * 61 for i in range(1000)]
    most = parse({"any": [listed("payeeId", longest), listed("beneficiaryId", longest)]})
    assert len(canonical_json(most.to_json())) < 600_000


FIELDS: list[tuple[Any, set[str]]] = [
    (CASH, {"paymentType"}),
    (listed("payerId", ["1"]), {"payeeId"}),
    ({"not": compared("eventTime", ">", 5)}, {"eventTime"}),
    ({"all": [CASH, {"any": [CASH, compared("paymentAmount", ">", 5)]}]}, {"paymentType", "paymentAmount"}),
]


@pytest.mark.parametrize(("data", "names"), FIELDS)
def test_the_fields_it_looks_at(data: Any, names: set[str]) -> None:
    assert parse(data).fields() == names


NAMED: list[tuple[Any, set[str], set[str]]] = [
    (CASH, set(), set()),
    (listed("payeeId", ["1"]), set(), set()),
    (listed("payeeId", {"list": "a"}), {"a"}, set()),
    ({"not": compared("paymentAmount", "<", {"parameter": "p"})}, set(), {"p"}),
    ({"all": [CASH, {"any": [listed("payeeId", {"list": "a"}), compared("paymentAmount", "<", {"parameter": "a"})]},
              listed("beneficiaryId", {"list": "b"})]}, {"a", "b"}, {"a"}),
]  # fmt: skip


@pytest.mark.parametrize(("data", "lists", "parameters"), NAMED)
def test_the_names_it_looks_at(data: Any, lists: set[str], parameters: set[str]) -> None:
    assert parse(data).lists() == lists
    assert parse(data).parameters() == parameters


@UNHURRIED
@given(filters_of(TRANSACTION))
def test_parse_of_to_json_is_identity(drawn: Filter) -> None:
    carried = json.loads(canonical_json(drawn.to_json()))
    assert parse(carried) == drawn
    assert parse(carried).to_json() == carried
    schemas.validator("filter")(carried)


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(max_size=5)
    | st.sampled_from([*(f.name for f in TRANSACTION.fields), "payerId", "=", ">", "NOT_EQUAL", "CSH", "25", 10**400])
)  # fmt: skip
KEYS = st.sampled_from(["all", "any", "not", "field", "operator", "value", "in", "IN", "x"])
# objects of the right shape hold anything; others hold any keys
GARBAGE = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.fixed_dictionaries({"field": inner, "operator": inner, "value": inner})
        | st.fixed_dictionaries({"field": inner, "in": st.lists(inner, max_size=3)})
        | st.fixed_dictionaries({"any": st.lists(inner, max_size=3)})
    ),
    max_leaves=12,
)


# making the first text takes seconds where the character tables are not cached yet
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=300)
@given(GARBAGE)
def test_garbage_is_refused_with_paths_and_nothing_else(garbage: object) -> None:
    found, said = filter_parser.read(garbage, TRANSACTION)
    assert (found is None) == bool(said)
    assert all(problem.field.startswith("filter") and problem.message for problem in said)
    assert all(problem.message.encode() for problem in said)


def _changed(data: Any) -> Iterator[Any]:
    """The JSON with each of its values in turn replaced by what is of another kind."""
    if isinstance(data, dict):
        for key, inner in data.items():
            yield from ({**data, key: other} for other in _changed(inner))
    elif isinstance(data, list):
        for i, inner in enumerate(data):
            yield from ([*data[:i], other, *data[i + 1 :]] for other in _changed(inner))
    yield from (None, 0.5, [], {}, "x" * 65)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=10)
@given(filters_of(TRANSACTION))
def test_reading_and_schema_agree_on_what_is_normalised(drawn: Filter) -> None:
    keeps_schema = schemas.validator("filter")
    for data in _changed(drawn.to_json()):
        found, _ = filter_parser.read(data, TRANSACTION)
        try:
            keeps_schema(data)
        except SchemaViolation:
            assert found is None or found.to_json() != data
        else:
            assert found is not None
