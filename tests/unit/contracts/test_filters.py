"""Filters: what each spelling is parsed to, and the fields and names that a filter refers to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.unit.contracts.support.filter_samples import (
    CASH,
    IS_CASH,
    TRANSACTION,
    UNHURRIED,
    at_night,
    compared,
    listed,
    parse,
)
from tests.unit.contracts.support.strategies import filters_of
from tripline_contracts import schemas
from tripline_contracts.canonical import canonical_json
from tripline_contracts.errors import SchemaViolation
from tripline_contracts.filters import filter_parser
from tripline_contracts.filters.filter_leaves import (
    FieldComparison,
    LocalTimeTest,
    MultipleTest,
    NullTest,
    TextTest,
)
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
    ({"FIELD": "payerId", "Operator": "NOT_EQUAL", "otherfield": "BENEFICIARYID"},
     FieldComparison("payeeId", "!=", "beneficiaryId"), "two fields"),
    ({"field": "ingestionTimestamp", "operator": "<", "otherField": "eventTime"},
     FieldComparison("ingestionTimestamp", "<", "eventTime"), "two times"),
    ({"field": "payeeId", "STARTSWITH": 25}, TextTest("payeeId", "startsWith", "25"), "how a text begins"),
    ({"field": "payeeId", "endsWith": "é "}, TextTest("payeeId", "endsWith", "é "), "how a text ends"),
    ({"field": "beneficiaryId", "contains": "x" * 64}, TextTest("beneficiaryId", "contains", "x" * 64),
     "what a text has in it"),
    ({"field": "paymentType", "ISNULL": True}, NullTest("paymentType"), "null"),
    ({"field": "paymentAmount", "multipleOf": "1e2"}, MultipleTest("paymentAmount", "100"), "round amounts"),
    ({"field": "paymentAmount", "multipleOf": Decimal("0.000001")}, MultipleTest("paymentAmount", "0.000001"),
     "the least divisor"),
    (at_night(), LocalTimeTest("eventTime", "Europe/Berlin", 1320, 360, ()), "nights"),
    (at_night(days=["SUN", "sat", "SAT"]), LocalTimeTest("eventTime", "Europe/Berlin", 1320, 360, ("SAT", "SUN")),
     "days, in the order of the week, each once"),
    (at_night(days=["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"], From="00:00", to="00:00"),
     LocalTimeTest("eventTime", "Europe/Berlin", 0, 0, ()), "every day, all day"),
    ({"all": [CASH]}, All((IS_CASH,)), "all of one stays as it is"),
    ({"ANY": [{"not": CASH}, CASH, CASH]}, Any_((Not(IS_CASH), IS_CASH, IS_CASH)), "operands keep their order"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "meant", "reason"), READ, ids=[case[-1] for case in READ])
def test_read(data: dict[str, Any], meant: Filter, reason: str) -> None:
    assert parse(data) == meant, reason
    schemas.validator("filter")(meant.to_json())


def test_a_filter_within_the_bounds_fits_in_a_kafka_record() -> None:
    longest = [f"{i:03}" + "\U0001f600" * 61 for i in range(1000)]
    most = parse({"any": [listed("payeeId", longest), listed("beneficiaryId", longest)]})
    assert len(canonical_json(most.to_json())) < 600_000


FIELDS: list[tuple[Any, set[str]]] = [
    (CASH, {"paymentType"}),
    (listed("payerId", ["1"]), {"payeeId"}),
    ({"not": compared("eventTime", ">", 5)}, {"eventTime"}),
    ({"all": [CASH, {"any": [CASH, compared("paymentAmount", ">", 5)]}]}, {"paymentType", "paymentAmount"}),
    ({"field": "payeeId", "operator": "=", "otherField": "beneficiaryId"}, {"payeeId", "beneficiaryId"}),
    ({"field": "payeeId", "contains": "5"}, {"payeeId"}),
    (at_night(), {"eventTime"}),
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
        parsed, _ = filter_parser.read(data, TRANSACTION)
        try:
            keeps_schema(data)
        except SchemaViolation:
            assert parsed is None or parsed.to_json() != data
        else:
            assert parsed is not None
