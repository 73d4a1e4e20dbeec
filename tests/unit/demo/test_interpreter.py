"""The environment is made from a Python that was built with optimisations, where the system has one that fits."""

from __future__ import annotations

import importlib.util
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

from tripline_demo import paths

FILE = paths.project_root() / "demo" / "interpreter.py"
BY_HAND = "'--prefix=/home/someone/.pyenv/versions/3.12.1' '--enable-shared'"


@pytest.fixture
def interpreter() -> ModuleType:
    spec = importlib.util.spec_from_file_location("interpreter", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def built(monkeypatch: pytest.MonkeyPatch, prefix: str, arguments: str | None) -> None:
    """The Python of this test was built with these arguments of `configure`, for this folder."""
    monkeypatch.setattr(sys, "base_prefix", prefix)
    monkeypatch.setattr(sysconfig, "get_config_var", {"CONFIG_ARGS": arguments}.get)


def a_python(folder: Path, name: str, ends: int) -> str:
    """A program that takes the place of a Python, for which demo/machine.py ends with this status."""
    program = folder / name
    program.write_text(f"#!/bin/sh\nexit {ends}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("prefix", "arguments"),
    [
        ("/usr", "'--prefix=/usr' '--without-ensurepip'"),
        ("/usr/local", "'--enable-optimizations' '--with-lto'"),
        ("/home/someone/.pyenv/versions/3.12.1", f"{BY_HAND} '--enable-optimizations'"),
    ],
)
def test_one_with_optimisations_stays(
    interpreter: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    prefix: str,
    arguments: str,
) -> None:
    built(monkeypatch, prefix, arguments)
    assert interpreter.preferred([a_python(tmp_path, "python3", 0)]) == sys.executable


@pytest.mark.parametrize("arguments", [BY_HAND, None])
def test_instead_of_one_without_the_systems_first_that_fits(
    interpreter: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: str | None
) -> None:
    built(monkeypatch, "/home/someone/.pyenv/versions/3.12.1", arguments)
    missing, refused = str(tmp_path / "none"), a_python(tmp_path, "python3", 1)
    fits, later = a_python(tmp_path, "python3.13", 0), a_python(tmp_path, "python3.12", 0)
    assert interpreter.preferred([missing, refused, fits, later]) == fits


def test_without_another_that_fits_it_stays(
    interpreter: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    built(monkeypatch, "/opt/python", BY_HAND)
    assert interpreter.preferred([str(tmp_path / "none"), a_python(tmp_path, "old", 1)]) == sys.executable


def test_whether_one_fits_is_asked_of_that_python(interpreter: ModuleType) -> None:
    assert interpreter.fits(sys.executable)
    assert not interpreter.fits("/bin/false")
