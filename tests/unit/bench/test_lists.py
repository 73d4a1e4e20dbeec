"""The figures of a long list: they are all there and plausible, and a missed bar shows."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from bench.lists import main
from tripline_demo import paths


def test_every_figure_is_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("var")
    monkeypatch.setattr(paths, "var_folder", lambda: folder)
    words = ["--entries", "25000", "--micro-batches", "10", "--size", "50"]
    result = CliRunner().invoke(main, words)
    rows = {row["name"]: row for row in json.loads((folder / "lists.json").read_text())}
    assert result.exit_code == (0 if all(row["ok"] for row in rows.values()) else 1), result.output
    # two words of the identity and two moments; a text of twelve characters with quotes and a comma
    assert 24 <= rows["an entry, in memory for look-ups"]["value"] < 40
    assert 15 <= rows["an entry, in the state log"]["value"] < 40
    assert "25,000 entries added by 3 events" in rows
    assert sum("reference" in name for name in rows) == 2
