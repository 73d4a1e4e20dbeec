"""Exact decimals: what is let in, and that nothing is lost on the way."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tripline_contracts import decimals
from tripline_contracts.errors import InvalidDecimal

# a deadline per example would measure how busy the machine is
UNHURRIED = settings(deadline=None)

SCALED = st.integers(min_value=-(10**24) + 1, max_value=10**24 - 1)


LET_IN: list[tuple[Any, ...]] = [
    ("0", "0", "zero"),
    ("-0", "0", "minus zero is zero"),
    ("-0.000", "0", "minus zero with places is zero"),
    ("1e3", "1000", "the value counts and not the spelling"),
    ("1E+3", "1000", "a capital E and a plus in the exponent"),
    ("1.0000000", "1", "seven places, but none of them says anything"),
    ("12.50", "12.5", "trailing zeros go"),
    ("00012.5", "12.5", "leading zeros are allowed"),
    ("0.000001", "0.000001", "the least step"),
    ("1e-6", "0.000001", "the least step by exponent"),
    ("10e-7", "0.000001", "a fine exponent made good by the digits"),
    ("999999999999999999.999999", "999999999999999999.999999", "the largest"),
    ("-999999999999999999.999999", "-999999999999999999.999999", "the smallest"),
    ("0.0000001e1", "0.000001", "fraction and exponent together"),
    ("0e999999999999999999999", "0", "zero whatever the exponent"),
    ("0" * 5000 + "7", "7", "more digits than Python makes an int of at once"),
    ("7" + "0" * 5000 + "e-5000", "7", "trailing zeros and the exponent cancel out"),
    (25, "25", "an int"),
    (-(10**18) + 1, "-999999999999999999", "the smallest int"),
    (Decimal("1E+3"), "1000", "a Decimal with an exponent"),
    (Decimal("-0.0"), "0", "a Decimal minus zero"),
]


@pytest.mark.parametrize(("value", "expected", "reason"), LET_IN, ids=[case[-1] for case in LET_IN])
def test_let_in(value: str | int | Decimal, expected: str, reason: str) -> None:
    assert decimals.plain(decimals.parse(value)) == expected, reason
    assert decimals.plain_scaled(decimals.parse_scaled(value)) == expected, reason
    assert str(decimals.parse(value)) == expected, reason


REFUSED: list[tuple[Any, ...]] = [
    ("", "expected a decimal", "empty"),
    ("+1", "expected a decimal", "a leading plus"),
    (" 1", "expected a decimal", "a space before"),
    ("1\n", "expected a decimal", "a line end after: $ would let it in"),
    ("1_000", "expected a decimal", "an underscore, which Decimal would take"),
    ("1,5", "expected a decimal", "a comma"),
    (".5", "expected a decimal", "no digit before the point"),
    ("5.", "expected a decimal", "no digit after the point"),
    ("1e", "expected a decimal", "no exponent after the e"),
    ("1e5.0", "expected a decimal", "a fraction in the exponent"),
    ("٣", "expected a decimal", "a digit that is not ASCII, which Decimal would take"),
    ("NaN", "expected a decimal", "not a number"),
    ("Infinity", "expected a decimal", "infinite"),
    ("0x10", "expected a decimal", "hexadecimal"),
    ("1000000000000000000", "below 10^18", "just too large"),
    ("-1e18", "below 10^18", "just too small"),
    ("1e999999999999999999999", "below 10^18", "an exponent that must not be computed"),
    (10**18, "below 10^18", "an int just too large"),
    (10**6000, "below 10^18", "an int that Python would not print"),
    ("0.0000001", "6 decimal places", "a seventh place"),
    ("1e-7", "6 decimal places", "a seventh place by exponent"),
    ("1e-999999999999999999999", "6 decimal places", "an exponent that must not be computed"),
    (Decimal("0.0000001"), "6 decimal places", "a Decimal with a seventh place"),
    (Decimal("NaN"), "finite", "a Decimal that is no number"),
    (Decimal("-Infinity"), "finite", "a Decimal that is infinite"),
    (True, "not a bool", "true is no number"),
    (1.5, "not a float", "a float is refused even where it is exact"),
    (None, "not a NoneType", "null"),
]


@pytest.mark.parametrize(("value", "said", "reason"), REFUSED, ids=[case[-1] for case in REFUSED])
def test_refused(value: str | int | Decimal, said: str, reason: str) -> None:
    with pytest.raises(InvalidDecimal) as refused:
        decimals.parse(value)
    assert said in str(refused.value), reason


@UNHURRIED
@given(SCALED)
def test_scaled_and_plain_are_each_other_s_way_back(scaled: int) -> None:
    value = decimals.from_scaled(scaled)
    assert decimals.to_scaled(value) == scaled
    assert decimals.parse_scaled(decimals.plain(value)) == scaled
    assert value * 10**6 == scaled


@UNHURRIED
@given(
    st.decimals(
        allow_nan=False, allow_infinity=False, places=6, min_value=-(10**18) + 1, max_value=10**18 - 1
    )
)
def test_agrees_with_decimal_arithmetic(value: Decimal) -> None:
    with localcontext() as context:
        context.prec = 60
        assert decimals.parse_scaled(value) == value * 10**6
        assert decimals.parse(str(value)) == value
        assert decimals.parse(f"{value:E}") == value


@UNHURRIED
@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_lets_in_exactly_what_decimal_24_6_holds(value: Decimal) -> None:
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 2000, 10**6, -(10**6)
        scaled = value * 10**6
        fits = scaled == scaled.to_integral_value() and abs(scaled) < 10**24
    if fits:
        assert decimals.parse_scaled(value) == int(scaled)
    else:
        with pytest.raises(InvalidDecimal):
            decimals.parse(value)


@UNHURRIED
@given(SCALED)
def test_the_decimal_context_changes_nothing(scaled: int) -> None:
    with localcontext() as context:
        context.prec = 3
        assert decimals.to_scaled(decimals.parse(decimals.plain_scaled(scaled))) == scaled


@UNHURRIED
@given(st.integers(min_value=-(2**127), max_value=2**127 - 1))
def test_sums_of_128_bits_are_printed_and_read_back(scaled: int) -> None:
    text = decimals.plain_scaled(scaled)
    assert decimals.plain(Decimal(text)) == text
    assert decimals.to_scaled(Decimal(text)) == scaled


@pytest.mark.parametrize(("value", "reason"), [("0.0000001", "seven places"), ("NaN", "no number")])
def test_what_cannot_be_scaled(value: str, reason: str) -> None:
    with pytest.raises(InvalidDecimal):
        decimals.to_scaled(Decimal(value))


@pytest.mark.parametrize("text", ["-0", "-0.00", "-0E+5"])
def test_minus_zero_is_printed_as_zero(text: str) -> None:
    assert decimals.plain(Decimal(text)) == "0"


def test_what_cannot_be_printed() -> None:
    with pytest.raises(InvalidDecimal):
        decimals.plain(Decimal("Infinity"))
