"""Exact decimals: parsing, rounding, and sums beyond 64 bits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.values.decimals import plain, scaled
from tests.oracle.values.errors import Unreadable
from tests.oracle.windows.aggregates import aggregate, holds, reported
from tests.unit.oracle.support.agreement import judge

T = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e3", 1_000_000_000),
        ("1.0000000", 1_000_000),
        ("-0", 0),
        ("0e999999999999999999999", 0),
        ("007", 7_000_000),
        ("1E-6", 1),
        ("10e-7", 1),
        ("-999999999999999999.999999", -(10**24) + 1),
        (f"1{'0' * 5000}e-5000", 1_000_000),
    ],
)
def test_the_value_counts_and_not_the_spelling(text: str, value: int) -> None:
    assert scaled(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+1",
        " 1",
        "1_000",
        "1.",
        ".5",
        "1e",
        "NaN",
        "0.0000001",
        "1e18",
        "1e-7",
        "1e99999999999999",
        "\u0661",
    ],
)
def test_what_cannot_be_represented_is_refused(text: str) -> None:
    with pytest.raises(Unreadable):
        scaled(text)


@pytest.mark.parametrize(
    ("millionths", "text"), [(0, "0"), (-1, "-0.000001"), (1_500_000, "1.5"), (10**24, f"1{'0' * 18}")]
)
def test_plain_text(millionths: int, text: str) -> None:
    assert plain(millionths) == text


@pytest.mark.parametrize(
    ("amounts", "rounded"),
    [((0, 1), 0), ((1, 2), 2), ((2, 3), 2), ((0, -1), 0), ((-1, -2), -2), ((1, 1, 2), 1)],
)
def test_average_is_reported_half_even(amounts: tuple[int, ...], rounded: int) -> None:
    assert reported(aggregate("AVG", amounts)) == rounded


def test_average_is_compared_exactly_and_not_as_reported() -> None:
    third = aggregate("AVG", (1, 1, 2))
    assert reported(third) == 1
    assert not holds(third, "=", Fraction(1))
    assert holds(third, ">", Fraction(1))
    assert third == Fraction(4, 3)


@pytest.mark.parametrize(
    ("amounts", "operator", "shown"),
    [
        ((1, 1, 2), ">", ["0.000001"]),
        ((1, 1, 2), "=", ["0.000001"] * 2),
        ((0, 3), ">", ["0.000002"]),
        ((2, 3), ">", ["0.000002", "0.000002"]),
    ],
)
def test_an_average_alerts_by_its_exact_value_and_shows_the_rounded_one(
    amounts: tuple[int, ...], operator: str, shown: list[str]
) -> None:
    rule = Registry().publish(1, draft("AVG", operator, "0.000001", by=("payeeId",)), 0, 0)
    records = [payment(number, T, plain(amount)) for number, amount in enumerate(amounts)]
    assert [alert["value"] for alert in judge([batch(events=[rule], records=records)]).alerts] == shown


def test_sums_beyond_sixty_four_bits() -> None:
    largest = "999999999999999999.999999"
    rule = Registry().publish(1, draft(operator=">=", limit=largest, by=("payeeId",)), 0, 0)
    records = [payment(number, T, largest) for number in range(1, 4)] + [payment(4, T, f"-{largest}")]
    values = [alert["value"] for alert in judge([batch(events=[rule], records=records)]).alerts]
    assert values == [
        largest,
        "1999999999999999999.999998",
        "2999999999999999999.999997",
        "1999999999999999999.999998",
    ]


@pytest.mark.parametrize("edge", [2**63, 2**64, -(2**63), -(2**64)])
def test_sums_across_the_edges_of_words(edge: int) -> None:
    rule = Registry().publish(1, draft(operator="!=", limit="0", by=("payeeId",)), 0, 0)
    records = [payment(1, T, plain(edge - 1)), payment(2, T, "0.000001"), payment(3, T, "0.000001")]
    values = [alert["value"] for alert in judge([batch(events=[rule], records=records)]).alerts]
    assert values == [plain(edge - 1), plain(edge), plain(edge + 1)]


@pytest.mark.parametrize(
    ("symbol", "limit", "expected"),
    [("=", 5, True), ("!=", 5, False), (">=", 5, True), ("<=", 4, False), (">", 5, False), ("<", 6, True)],
)
def test_operators(symbol: str, limit: int, expected: bool) -> None:
    assert holds(Fraction(5), symbol, Fraction(limit)) is expected


@pytest.mark.parametrize(("function", "value"), [("MIN", -3), ("MAX", 4), ("SUM", 1), ("COUNT", 2_000_000)])
def test_functions(function: str, value: int) -> None:
    assert aggregate(function, (4, -3)) == value
