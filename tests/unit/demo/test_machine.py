"""Where Tripline cannot run, one sentence says why and what would help."""

from __future__ import annotations

import ast
import importlib.util
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tripline_demo import paths

FILE = paths.project_root() / "demo" / "machine.py"


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, on a machine on which nothing is in the way."""
    spec = importlib.util.spec_from_file_location("machine", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", "2.36"))
    return module


def version(*numbers: int) -> Callable[[pytest.MonkeyPatch], None]:
    def change(monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "version_info", numbers)
        monkeypatch.setattr(platform, "python_version", lambda: ".".join(map(str, numbers)))

    return change


def reported(name: str, value: Any) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda monkeypatch: monkeypatch.setattr(platform, name, lambda: value)


@pytest.mark.parametrize(
    "change",
    [version(3, 11, 0), version(3, 14, 2), reported("machine", "aarch64"), reported("system", "Linux")],
)
def test_supported(
    machine: ModuleType, monkeypatch: pytest.MonkeyPatch, change: Callable[[pytest.MonkeyPatch], None]
) -> None:
    change(monkeypatch)
    assert machine.obstacle() == ""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (version(3, 10, 12), "Python 3.11 to 3.14, and this python3 is 3.10.12"),
        (version(3, 6, 8), "make env PYTHON=python3.11"),
        (version(3, 15, 0), "this python3 is 3.15.0"),
        (
            reported("system", "Windows"),
            "this is Windows on x86_64. A Linux virtual machine (on Windows: WSL 2)",
        ),
        (reported("system", "Darwin"), "this is Darwin on x86_64"),
        (reported("machine", "armv7l"), "Linux on x86_64 and aarch64, and this is Linux on armv7l"),
        (reported("libc_ver", ("", "")), "needs a Linux with glibc"),
        (lambda mp: mp.setattr(importlib.util, "find_spec", lambda _: None), "apt install python3-venv"),
    ],
)
def test_refused_with_a_sentence(
    machine: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[pytest.MonkeyPatch], None],
    said: str,
) -> None:
    change(monkeypatch)
    with pytest.raises(SystemExit) as ended:
        machine.check()
    assert str(ended.value).startswith(
        "Tripline cannot run here: it needs" if "needs" in said else "Tripline"
    )
    assert said in str(ended.value)


def test_this_machine_is_not_refused() -> None:
    done = subprocess.run([sys.executable, str(FILE)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_old_python_can_read_it() -> None:
    tree = ast.parse(FILE.read_text(), feature_version=(3, 6))
    annotations = {
        ast.unparse(node.returns)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.returns
    }
    assert annotations == {"str", "None"}  # evaluated when it is read: list[str] would fail there


def test_make_asks_before_it_makes_anything() -> None:
    recipe = Path(paths.project_root() / "Makefile").read_text().partition("$(STAMP): ")[2].splitlines()[1:3]
    assert [line.split()[1] for line in recipe] == ["demo/machine.py", "demo/bootstrap.py"]
