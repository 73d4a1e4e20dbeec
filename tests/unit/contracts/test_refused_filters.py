"""Filters that are refused: the path of each problem, and bounds that no JSON gets past."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.contracts.support.filter_samples import (
    CASH,
    TRANSACTION,
    at_night,
    beside,
    compared,
    listed,
    parse,
    problems,
)
from tripline_contracts.errors import Problem
from tripline_contracts.filters import filter_parser

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
    (beside("payeeId", "=", "payerId"), "filter.otherField", "another field of kind string", "a field with itself"),
    (beside("payeeId", "=", "paymentType"), "filter.otherField", "kind string", "fields of two kinds"),
    (beside("payeeId", "=", "iban"), "filter.otherField", "not 'iban'", "an undeclared other field"),
    (beside("payeeId", "<", "beneficiaryId"), "filter.operator", "one of = !=", "texts have no order among them"),
    ({**beside("payeeId", "=", "beneficiaryId"), "value": "5"}, "filter", "not field with operator with", "both"),
    ({"field": "paymentType", "startsWith": "C"}, "filter.startsWith", "a field of texts", "an enum is no text"),
    ({"field": "payeeId", "endsWith": ""}, "filter.endsWith", TEXT, "all texts end with nothing"),
    ({"field": "payeeId", "contains": ["a"]}, "filter.contains", TEXT, "one text"),
    ({"field": "payeeId", "contains": "a", "startsWith": "a"}, "filter", "not contains with field", "two tests"),
    ({"contains": "a"}, "filter", "not contains", "a test of no field"),
    ({"field": "payeeId"}, "filter", "not field", "a field alone"),
    ({"field": "payeeId", "isNull": False}, "filter.isNull", '{"not": …}', "not null is said with not"),
    ({"field": "payeeId", "isNull": 1}, "filter.isNull", "expected true", "1 is not true"),
    ({"field": "transactionId", "isNull": True}, "filter.field", "payeeId", "the id is never null"),
    ({"field": "payeeId", "multipleOf": 5}, "filter.multipleOf", "decimal numbers", "a text is no multiple"),
    ({"field": "paymentAmount", "multipleOf": 0}, "filter.multipleOf", "above 0", "of nothing"),
    ({"field": "paymentAmount", "multipleOf": "-5"}, "filter.multipleOf", "above 0", "below nothing"),
    ({"field": "paymentAmount", "multipleOf": 0.5}, "filter.multipleOf", "not a float", "not exact"),
    ({"field": "eventTime", **at_night()}, "filter", "not field with localTime", "it has its field"),
    ({"localTime": "22:00"}, "filter.localTime", "an object with zone", "a time alone"),
    ({"localTime": {"zone": "UTC", "from": "22:00"}}, "filter.localTime", "without to", "no end"),
    (at_night(hour=5), "filter.localTime", "unknown 'hour'", "an unknown member"),
    ({"localTime": {"zone": "UTC", "Zone": "UTC"}}, "filter.localTime", "given twice", "one member in two cases"),
    (at_night(zone="Berlin"), "filter.localTime.zone", "Europe/Berlin or UTC; not 'Berlin'", "no such zone"),
    (at_night(zone="../zones"), "filter.localTime.zone", "IANA", "a path is no zone"),
    (at_night(zone=["UTC"]), "filter.localTime.zone", "not a list", "a zone is a text"),
    (at_night(to="24:00"), "filter.localTime.to", "00:00 ends a day", "the end of a day is 00:00"),
    (at_night(From="9:00"), "filter.localTime.from", "a time of day like", "two digits"),
    (at_night(From="0٩:00"), "filter.localTime.from", "a time of day like", "digits of another script"),
    (at_night(to=600), "filter.localTime.to", "not 600", "a number is no time of day"),
    (at_night(days=[]), "filter.localTime.days", "1 to 7", "no day"),
    (at_night(days="SAT"), "filter.localTime.days", "1 to 7", "a day alone"),
    (at_night(days=["SAT", "Sunday"]), "filter.localTime.days[1]", "not 'Sunday'", "a day in full"),
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
    changes: dict[str, Any] = {}
    changes["all"] = [changes, changes]
    assert any("more than" in problem.message for problem in problems(changes))


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
    refused = problems(listed("payeeId", [""] * 1000))
    assert len(refused) == filter_parser.MOST_PROBLEMS + 1
    assert refused[-1] == Problem("filter", "more problems than are listed")


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.decimals() | st.text(max_size=5)
    | st.sampled_from([*(f.name for f in TRANSACTION.fields), "payerId", "=", ">", "NOT_EQUAL", "CSH", "25", 10**400])
)  # fmt: skip
KEYS = st.sampled_from(
    ["all", "any", "not", "field", "operator", "value", "in", "IN", "x", "otherField", "contains", "isNull",
     "multipleOf", "localTime", "zone", "from", "to", "days"]
)  # fmt: skip


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
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=150)
@given(GARBAGE)
def test_garbage_is_refused_with_paths_and_nothing_else(garbage: object) -> None:
    parsed, said = filter_parser.read(garbage, TRANSACTION)
    assert (parsed is None) == bool(said)
    assert all(problem.field.startswith("filter") and problem.message for problem in said)
    assert all(problem.message.encode() for problem in said)
