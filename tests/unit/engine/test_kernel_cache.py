"""Compiled kernels are never used with a source that they were not compiled from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numba
import pytest

import tripline_engine
from tripline_engine.kernel_cache import use_own_cache

CONFIG: Any = numba.config
KERNEL = "@kernel()\ndef kernel(): return {}\n"


@pytest.fixture(autouse=True)
def _as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    # without it each package has kernels of its own; with it these tests would remove the engine's
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setattr(CONFIG, "CACHE_DIR", CONFIG.CACHE_DIR)


def package(folder: Path) -> Path:
    for name, source in (("one", KERNEL.format(1)), ("other", KERNEL.format(2)), ("plain", "x = 1\n")):
        (folder / f"{name}.py").write_text(source)
    return folder


def test_it_is_in_use() -> None:
    package_cache = Path(tripline_engine.__file__).parent / "__pycache__"
    assert Path(CONFIG.CACHE_DIR).parent == package_cache
    assert Path(CONFIG.CACHE_DIR).name.startswith("kernels-")


def test_a_change_in_any_file_with_kernels_is_another_cache(tmp_path: Path) -> None:
    folder = package(tmp_path)
    first = use_own_cache(folder)
    assert use_own_cache(folder) == first
    (folder / "plain.py").write_text("x = 2\n")
    assert use_own_cache(folder) == first
    (folder / "other.py").write_text(KERNEL.format(3))
    assert use_own_cache(folder) != first
    assert os.environ["NUMBA_CACHE_DIR"] == CONFIG.CACHE_DIR != str(first)


def test_old_kernels_go(tmp_path: Path) -> None:
    folder = package(tmp_path)
    first = use_own_cache(folder)
    first.mkdir(parents=True)
    (first / "kernel.nbc").write_bytes(b"compiled")
    (folder / "one.py").write_text(KERNEL.format(3))
    use_own_cache(folder)
    assert not first.exists()


def test_in_the_folder_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = tmp_path / "named"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(named))
    folder = use_own_cache(package(tmp_path))
    assert folder.parent == named
    # a process that this one starts finds the same
    assert use_own_cache(tmp_path) == folder
