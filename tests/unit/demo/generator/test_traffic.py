from __future__ import annotations

from decimal import Decimal

import pytest

from tripline_demo.generator.errors import InvalidInput
from tripline_demo.generator.payments.trade import PAYMENTS
from tripline_demo.generator.traffic import Traffic, change


def test_what_is_not_named_stays() -> None:
    changed = change(Traffic(seed=5), {"rate": 20_000, "lateShare": Decimal("0.25"), "payees": 10}, PAYMENTS)
    assert changed == Traffic(rate=20_000, late_share=0.25, sizes={"payees": 10}, seed=5)
    assert change(changed, {"payees": None}, PAYMENTS).sizes == {}
    assert change(changed, {}, PAYMENTS) == changed


def test_it_reads_back_what_it_shows() -> None:
    traffic = Traffic(rate=7, scenarios=("money-mule",), broken_share=0.5, sizes={"beneficiaries": 3})
    assert change(Traffic(), traffic.to_json(PAYMENTS), PAYMENTS) == traffic


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"rate": 20_001}, "rate"),
        ({"rate": -1}, "rate"),
        ({"rate": True}, "rate"),
        ({"rate": "5"}, "rate"),
        ({"rate": Decimal("5.5")}, "rate"),
        ({"rate": None}, "rate"),
        ({"seed": 2**53}, "seed"),
        ({"payees": 0}, "payees"),
        ({"lateShare": Decimal("1.1")}, "lateShare"),
        ({"brokenShare": "all"}, "brokenShare"),
        ({"duplicateShare": False}, "duplicateShare"),
        ({"lateShare": 0.6, "brokenShare": 0.6}, "lateShare"),
        ({"scenarios": ["theft"]}, "scenarios"),
        ({"scenarios": [["money-mule"]]}, "scenarios"),
        ({"scenarios": "money-mule"}, "scenarios"),
        ({"speed": 1}, "speed"),
    ],
)
def test_what_is_wrong_is_named(body: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        change(Traffic(), body, PAYMENTS)
    assert [problem.field for problem in caught.value.problems] == [field]


def test_everything_wrong_is_named_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        change(Traffic(), {"rate": -1, "seed": -1, "x": 1}, PAYMENTS)
    assert [problem.field for problem in caught.value.problems] == ["rate", "seed", "x"]
