from __future__ import annotations

import contextlib
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripline_contracts import event_type_loader
from tripline_demo.generator.errors import InvalidInput
from tripline_demo.generator.transaction_input import key_of, read, to_bytes

TRANSACTION = event_type_loader.load()
GOOD: dict[str, Any] = {
    "transactionId": "t1", "eventTime": 5, "payeeId": 25, "beneficiaryId": "12", "paymentAmount": "600",
    "paymentType": "CSH", "ingestionTimestamp": 6,
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "given_", "read_as"),
    [
        ("transactionId", 123, "123"),
        ("transactionId", "x" * 64, "x" * 64),
        ("payeeId", "", None),
        ("payeeId", None, None),
        ("payeeId", -7, "-7"),
        ("beneficiaryId", "\U0001f4b6" * 64, "\U0001f4b6" * 64),
        ("paymentAmount", Decimal("1e3"), "1000"),
        ("paymentAmount", "1.0000000", "1"),
        ("paymentAmount", -5, "-5"),
        ("paymentAmount", "-0", "0"),
        ("ingestionTimestamp", None, None),
    ],
)
def test_values_are_read_as_the_specification_says(field: str, given_: object, read_as: object) -> None:
    assert read({**GOOD, field: given_}, TRANSACTION)[field] == read_as


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("transactionId", "", "1 to 64"),
        ("transactionId", None, "required"),
        ("transactionId", "x" * 65, "1 to 64"),
        ("transactionId", True, "1 to 64"),
        ("transactionId", 10**64, "1 to 64"),
        ("transactionId", "\ud800", "surrogate"),
        ("payeeId", "a\x00b", "U+0000"),
        ("eventTime", "2025-01-01", "ms since the epoch"),
        ("eventTime", Decimal("1.5"), "ms since the epoch"),
        ("eventTime", -1, "ms since the epoch"),
        ("eventTime", 253_402_300_800_000, "ms since the epoch"),
        ("payeeId", 1.5, "1 to 64"),
        ("payeeId", ["25"], "1 to 64"),
        ("paymentAmount", None, "required"),
        ("paymentAmount", 1.5, "decimal"),
        ("paymentAmount", True, "decimal"),
        ("paymentAmount", "12,50", "decimal"),
        ("paymentAmount", "0.0000001", "6 decimal places"),
        ("paymentAmount", 10**18, "below 10^18"),
        ("paymentType", None, "required"),
        ("paymentType", "csh", "CSH, CRD"),
        ("paymentType", "", "CSH, CRD"),
        ("paymentType", ["CSH"], "CSH, CRD"),
        ("ingestionTimestamp", "now", "ms since the epoch"),
    ],
)
def test_a_wrong_field_is_named_with_what_was_expected(field: str, value: object, expected: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read({**GOOD, field: value}, TRANSACTION)
    (problem,) = caught.value.problems
    assert problem.field == field
    assert expected in problem.message


def test_all_wrong_fields_are_named() -> None:
    with pytest.raises(InvalidInput) as caught:
        read({"payeeId": 1.5, "paymentAmount": "x"}, TRANSACTION)
    names = [problem.field for problem in caught.value.problems]
    assert names == ["transactionId", "eventTime", "payeeId", "paymentAmount", "paymentType"]


@pytest.mark.parametrize(("payee", "payer"), [(None, "9"), ("9", None), (9, "9")])
def test_an_alias_is_read_and_both_names_may_mean_the_same(payee: object, payer: object) -> None:
    assert read({**GOOD, "payeeId": payee, "payerId": payer}, TRANSACTION)["payeeId"] == "9"


def test_a_name_and_its_alias_that_differ_are_refused() -> None:
    with pytest.raises(InvalidInput, match="payeeId, payerId"):
        read({**GOOD, "payerId": "9"}, TRANSACTION)


def test_unknown_fields_are_refused_or_left_out() -> None:
    wide = {**GOOD, "note": 1}
    assert "note" not in read(wide, TRANSACTION)
    with pytest.raises(InvalidInput, match="note: unknown"):
        read(wide, TRANSACTION, unknown_refused=True)


def test_defaults_stand_in_for_what_is_absent_only() -> None:
    bare = {name: GOOD[name] for name in ("paymentAmount", "paymentType")}
    defaults: dict[str, str | int] = {"transactionId": "new", "eventTime": 1, "ingestionTimestamp": 2}
    filled = read({**bare, "eventTime": 7}, TRANSACTION, defaults=defaults)
    assert (filled["transactionId"], filled["eventTime"], filled["ingestionTimestamp"]) == ("new", 7, 2)
    assert key_of(filled, TRANSACTION) is None


def test_it_is_written_with_every_declared_field() -> None:
    assert json.loads(to_bytes(read(GOOD, TRANSACTION))) == {**GOOD, "payeeId": "25"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.decimals(),
    st.lists,
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from([*GOOD, "payerId", "x"]), JSON) | JSON)
def test_any_json_is_read_or_refused(data: object) -> None:
    with contextlib.suppress(InvalidInput):
        transaction = read(data, TRANSACTION)
        assert json.loads(to_bytes(transaction)) == transaction
