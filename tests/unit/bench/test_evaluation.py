"""What an evaluation costs can be measured, and what was measured is checked."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from bench.evaluation import FUNCTIONS, main, payments
from bench.independent.plain_windows import plainly_held
from bench.workload.rules import Subject
from tripline_demo import paths


def test_a_window_holds_both_its_ends() -> None:
    load = payments(3_000, 0, seed=1)
    held = plainly_held(load, Subject(1, "SUM", "SUM", ("payeeId",), 1), np.array([500, 2_500]))
    assert held.count.tolist() == [501, 1_001]
    assert held.total.tolist() == [load.cents[:501].sum(), load.cents[1_500:2_501].sum()]


def test_every_aggregate_has_its_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("var")
    monkeypatch.setattr(paths, "var_folder", lambda: folder)
    monkeypatch.setattr("bench.evaluation._KEPT_LATER_MS", 1_000)
    result = CliRunner().invoke(main, ["--large", "3000", "--micro-batches", "10", "--size", "20"])
    rows = json.loads((folder / "evaluation.json").read_text())
    assert len(rows) == 4 * len(FUNCTIONS), result.output
    wrong = [row for row in rows if row["name"].endswith("wrong")]
    assert [row["value"] for row in wrong] == [0] * len(FUNCTIONS)
