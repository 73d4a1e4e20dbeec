"""The rooms of the oracle: arrows one way, nothing imported but the standard library; and the engine beside it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import oracle

ROOT = Path(oracle.__file__).parent
MODULES = sorted(path for path in ROOT.glob("*/*.py") if path.name != "__init__.py")
MOST_MODULES = 20
# The rooms that each may import; a room stands below all that it imports.
ARROWS = {
    "values": set(),
    "parsers": {"values"},
    "windows": {"parsers", "values"},
    "state": {"windows", "parsers", "values"},
    "output": {"windows", "parsers", "values"},
    "judgement": {"output", "state", "windows", "parsers", "values"},
    "builders": {"parsers", "values"},
    "generators": {"builders", "parsers", "values"},
    "malformed": {"generators", "builders", "parsers", "values"},
    "histories": {"malformed", "generators", "builders", "windows", "parsers", "values"},
}


def test_every_room_is_known_and_small() -> None:
    assert {path.parent.name for path in MODULES} == ARROWS.keys()
    for room in ARROWS:
        assert sum(path.parent.name == room for path in MODULES) <= MOST_MODULES


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_rooms_below_its_own(path: Path) -> None:
    rooms = {name.split(".")[2] for name in _imports(path) if name.startswith("tests.oracle.")}
    assert rooms <= ARROWS[path.parent.name] | {path.parent.name}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_nothing_from_the_engine_the_contracts_or_a_library(path: Path) -> None:
    foreign = {name for name in _imports(path) if not name.startswith("tests.oracle.")}
    assert {name.partition(".")[0] for name in foreign} <= sys.stdlib_module_names


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            yield node.module or ""


def test_the_engine_judges_every_history_worked_out_by_hand_too() -> None:
    cases = [
        path
        for path in Path(__file__).parent.glob("*/*.py")
        if path.parent.name not in ("histories", "support")
    ]
    assert cases
    for path in cases:
        assert "judge" not in _names_imported(path, "tests.oracle"), (
            f"{path.name}: take support.agreement.judge"
        )


def _names_imported(path: Path, module: str) -> set[str]:
    return {
        alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == module
        for alias in node.names
    }
