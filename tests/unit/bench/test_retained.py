"""The figures of what a payment weighs can be made."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from bench.retained import main
from tripline_demo import paths


def test_every_anchor_has_its_figures(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("var")
    monkeypatch.setattr(paths, "var_folder", lambda: folder)
    found = CliRunner().invoke(main, ["--rate", "10", "--minutes", "3"])
    rows = json.loads((folder / "retained.json").read_text())
    for name in ("payeeId", "beneficiaryId", "global"):
        for where in ("in memory", "in the state log"):
            (weighed,) = [r for r in rows if f"by {name} (" in r["name"] and where in r["name"]]
            assert weighed["value"] > 0, found.output
            assert weighed["unit"] == "bytes"
