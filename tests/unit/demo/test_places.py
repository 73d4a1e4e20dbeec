"""Where Spark shuffles: in memory if the system offers enough, closed to others, and gone with the stack."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from rich.console import Console

from tripline_demo.stack import places as module
from tripline_demo.stack import stopping
from tripline_demo.stack.places import Places
from tripline_demo.stack.progress import Progress


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "memory"
    folder.mkdir()
    monkeypatch.setattr(module, "MEMORY", folder)
    monkeypatch.setattr(module, "LEAST_MEMORY", 1)
    return folder


def test_scratch_is_in_memory_and_closed_to_others(memory: Path, tmp_path: Path) -> None:
    places = Places(tmp_path / "var")
    places.make_scratch()
    assert places.scratch.parent == memory
    assert stat.S_IMODE(places.scratch.stat().st_mode) == 0o700
    assert places.scratch != Places(tmp_path / "other").scratch


@pytest.mark.usefixtures("memory")
def test_stopping_gives_the_memory_back(tmp_path: Path) -> None:
    places = Places(tmp_path / "var")
    places.make()
    places.make_scratch()
    (places.scratch / "blocks").mkdir()
    (places.scratch / "blocks" / "shuffle").write_bytes(b"x")
    stopping.stop(places, Progress(Console(quiet=True)))
    assert not places.scratch.exists()


def test_without_enough_memory_it_is_on_the_disk(
    memory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places(tmp_path / "var")
    monkeypatch.setattr(module, "LEAST_MEMORY", 1 << 60)
    assert places.scratch == places.engine / "scratch"
    monkeypatch.setattr(module, "MEMORY", memory / "not-there")
    assert places.scratch == places.engine / "scratch"
    places.make()
    places.make_scratch()
    assert places.scratch.is_dir()
