"""Rule files on disk: which are read, and which are not written over."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from rules_registry.cli import main
from rules_registry.client.errors import FilesUnusable
from rules_registry.client.folders import read_files, write_files
from tests.unit.rules_registry.support.rule_files import MUCH


def test_files_of_a_folder_sorted_once_and_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yml", "deep/c.yaml", ".git/d.yaml", ".e.yaml", "rules.json", "notes.md"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(name, encoding="utf-8")
    files = read_files([tmp_path / "b.yaml", tmp_path])
    assert [file.text for file in files] == ["b.yaml", "a.yml", "deep/c.yaml"]
    assert files[1].name == str(tmp_path / "a.yml")


def test_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(FilesUnusable, match=r"a.yaml cannot be read: it is not UTF-8\."):
        read_files([tmp_path])


def test_nothing_is_written_where_a_file_is_there(tmp_path: Path) -> None:
    texts = {"a.yaml": "new", "b.yaml": "new", "schema.json": "{}"}
    (tmp_path / "b.yaml").write_text("# a comment", encoding="utf-8")
    (tmp_path / "schema.json").write_text("old", encoding="utf-8")
    with pytest.raises(FilesUnusable, match=r"b.yaml is there already, and may have comments"):
        write_files(tmp_path, texts, overwrite=False)
    assert not (tmp_path / "a.yaml").exists()
    write_files(tmp_path, texts, overwrite=True)
    assert {name: (tmp_path / name).read_text(encoding="utf-8") for name in texts} == texts


def test_checking_needs_no_registry(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(MUCH, encoding="utf-8")
    good = CliRunner().invoke(main, ["check", "-f", str(tmp_path)], env={"TRIPLINE_REGISTRY_URL": "nowhere"})
    assert (good.exit_code, good.output) == (0, "Rules: 1. Nothing is wrong.\n")
    file.write_text(MUCH + "limt: 5\n", encoding="utf-8")
    wrong = CliRunner().invoke(main, ["check", "-f", str(tmp_path)])
    assert wrong.exit_code == 1
    assert f"{file}:8: document 1: limt: unknown field" in wrong.output
    cards = CliRunner().invoke(
        main, ["check", "-f", str(tmp_path)], env={"TRIPLINE_EVENT_TYPE": "card-authorisation"}
    )
    assert "expected any of" in cards.output
    file.write_text("# nothing\n", encoding="utf-8")
    nothing = CliRunner().invoke(main, ["check", "-f", str(tmp_path)])
    assert (nothing.exit_code, "There is no rule in" in nothing.output) == (1, True)
