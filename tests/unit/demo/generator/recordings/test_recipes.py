"""The recipes of docs/recipes: samples of ours in the shapes of well-known data sets, each read by its mapping."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tripline_contracts import event_type_loader
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_contracts.recordings.proposals.proposal_text import propose
from tripline_demo.generator.recordings.recording import Line, lines_of, opened

RECIPES = Path(__file__).parents[5] / "docs" / "recipes"
TRANSACTION = event_type_loader.load()
HOUR, SECOND = 3_600_000, 1_000
YEAR, SEPTEMBER = 1_609_459_200_000, 1_377_993_600_000

EXPECTED: dict[str, list[tuple[Any, ...]]] = {
    "paysim": [
        ("paysim-2", YEAR + HOUR, "C100001", "M900001", "CRD", "4312.75"),
        ("paysim-3", YEAR + HOUR, "C100002", "C100003", "CRD", "250000"),
        ("paysim-4", YEAR + HOUR, "C100003", "C100004", "CSH", "250000"),
        ("paysim-5", YEAR + 2 * HOUR, "C100005", "C100006", "CSH", "1200.5"),
        ("paysim-6", YEAR + 2 * HOUR, "C100001", "C100007", "CRD", "87.31"),
        ("paysim-7", YEAR + 5 * HOUR, "C100008", "C100003", "CRD", "1999999.99"),
    ],
    "card-fraud": [
        ("card-fraud-2", SEPTEMBER, None, None, "CRD", "149.62"),
        ("card-fraud-3", SEPTEMBER, None, None, "CRD", "2.69"),
        ("card-fraud-4", SEPTEMBER + SECOND, None, None, "CRD", "378.66"),
        ("card-fraud-5", SEPTEMBER + 406 * SECOND, None, None, "CRD", "0"),
        ("card-fraud-6", SEPTEMBER + 472 * SECOND, None, None, "CRD", "529"),
        ("card-fraud-7", SEPTEMBER + 7_519 * SECOND, None, None, "CRD", "1"),
    ],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_row_of_the_sample_is_read(name: str) -> None:
    mapping = read_mapping((RECIPES / f"{name}.yaml").read_bytes(), TRANSACTION)
    with (RECIPES / f"{name}-sample.csv").open("rb") as file:
        lines = list(lines_of(opened(file, TRANSACTION, mapping), TRANSACTION))
    names = ("transactionId", "eventTime", "payeeId", "beneficiaryId", "paymentType", "paymentAmount")
    assert [
        tuple(line.transaction[name] for name in names) for line in lines if isinstance(line, Line)
    ] == EXPECTED[name]
    assert len(lines) == len(EXPECTED[name])


def test_there_is_a_recipe_for_each_and_no_other() -> None:
    assert {path.stem for path in RECIPES.glob("*.yaml")} == EXPECTED.keys()


def test_a_proposal_has_the_columns_and_leaves_open_what_the_recipe_says() -> None:
    with (RECIPES / "paysim-sample.csv").open("rb") as file:
        assert propose(file, TRANSACTION) == PAYSIM


PAYSIM = """\
# Proposed from the first 6 rows of a csv file; look at it before you use it.
# Not read: oldbalanceOrg, newbalanceOrig, oldbalanceDest, newbalanceDest, isFraud, isFlaggedFraud
fields:
  transactionId: {rowNumber: "row-"}  # likely: no column looks like an id
  eventTime: {column: "step", form: }  # open: '1' is in no form that is known: say a pattern of strptime, or {unit, since} for a count
  payeeId: "nameOrig"  # likely: 'nameOrig' is what others call it
  beneficiaryId: "nameDest"  # likely: 'nameDest' is what others call it
  paymentAmount: "amount"  # likely: 'amount' is what others call it
  paymentType:
    column: "type"
    values:  # open: what 'CASH_IN' means, of CSH, CRD, has to be said
      "CASH_IN":
      "CASH_OUT":
      "DEBIT":
      "PAYMENT":
      "TRANSFER":
"""  # noqa: E501  # as it is printed
