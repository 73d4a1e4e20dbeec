"""The figures of what a payment weighs: each anchor has them, they are plausible, and a missed bar shows."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from bench.retained import first_touched, main
from bench.workload.workload import make
from tripline_contracts.event_type_loader import load
from tripline_demo import paths

TIMES = 16
"""Bytes of a payment's two times: no payment takes less memory."""
EMPTY = 80_000
"""More bytes than the arrays of an anchor that has no payment take."""
UNTIL_NOW = 100_000
"""Far more bytes than any payment takes, even of so few that arrays are mostly empty."""


def test_every_anchor_has_its_figures(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("var")
    monkeypatch.setattr(paths, "var_folder", lambda: folder)
    result = CliRunner().invoke(main, ["--rate", "10", "--minutes", "3"])
    rows = json.loads((folder / "retained.json").read_text())
    assert result.exit_code == (0 if all(row["ok"] for row in rows) else 1), result.output
    for name in ("payeeId", "beneficiaryId", "global"):
        for where, least in (("in memory", TIMES), ("in the state log", 1)):
            (weighed,) = [row for row in rows if f"by {name} (" in row["name"] and where in row["name"]]
            assert least < weighed["value"] < UNTIL_NOW, result.output
            assert weighed["unit"] == "bytes"


def test_an_anchor_that_no_rule_needs_touches_nothing() -> None:
    sizes = first_touched(load("transaction"), make(5_000, 6_000, 0, 1))
    large = {(anchor, structure) for (anchor, structure), size in sizes.items() if size > EMPTY}
    assert {anchor for anchor, _ in large} == {"payeeId", "beneficiaryId"}
    assert {structure for _, structure in large} >= {
        "columns of transactions",
        "remembered ids",
        "lists and windows",
        "state log",
    }
