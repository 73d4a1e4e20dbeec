"""The console's modules: rooms whose imports lead one way, and no name that is imported without being exported."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path, PurePosixPath

import pytest

CONSOLE = Path(str(resources.files("alert_api").joinpath("console")))
FLOORS: tuple[tuple[str, ...], ...] = (
    ("main",),
    ("rule",),
    ("changes",),
    (
        "live",
        "cases",
        "webhooks",
        "rules",
        "alerts",
        "lists",
        "controls",
        "rejected",
        "audit",
        "keys",
        "backtests",
        "mappings",
    ),
    ("conditions",),
    ("parts",),
    ("words",),
    ("core",),
)
"""From above: a module imports modules of its own room and of lower floors. `main` is `main.js`."""

IMPORT = re.compile(r"""^import\s+(?:\{([^}]*)\}\s+from\s+)?"([^"]+)";""", re.MULTILINE)
FETCH = re.compile(r"""\bimport\("([^"]+)"\)(?:\)\.(\w+))?""")
"""What is imported when it is wanted, and its name where that stands there."""
EXPORT = re.compile(r"^export\s+(?:async\s+)?(?:function\*?|class|const|let)\s+(\w+)", re.MULTILINE)
SOURCES = {
    path.relative_to(CONSOLE).as_posix(): path.read_text(encoding="utf-8") for path in CONSOLE.rglob("*.js")
}


def imports(module: str) -> list[tuple[str, set[str]]]:
    """The modules that it imports, by their paths from the console's folder, each with the names."""
    listed = []
    fetched = [(name, path) for path, name in FETCH.findall(SOURCES[module])]
    for names, path in IMPORT.findall(SOURCES[module]) + fetched:
        parts: list[str] = list(PurePosixPath(module).parent.parts)
        for part in path.split("/"):
            if part == "..":
                parts.pop()
            elif part != ".":
                parts.append(part)
        listed.append(
            ("/".join(parts), {name.split(" as ")[0].strip() for name in names.split(",") if name.strip()})
        )
    return listed


def room_of(module: str) -> str:
    """Its folder; of a module at the top its own name."""
    return module.rpartition("/")[0] or module.removesuffix(".js")


def may_import(room: str, other: str) -> bool:
    """Whether the floors allow it."""
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}
    return room == other or floor[room] < floor[other]


def test_every_module_is_in_a_room() -> None:
    assert {room_of(module) for module in SOURCES} == {room for names in FLOORS for room in names}


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_imports_lead_to_lower_floors_and_to_what_is_exported(module: str) -> None:
    mentions = len(re.findall(r"^import\b|\bimport\(", SOURCES[module], re.MULTILINE))
    imported = imports(module)
    assert len(imported) == mentions, "an import is written in a way that this test does not read"
    for other, names in imported:
        assert other in SOURCES, f"{module} imports {other}, which is not there"
        assert may_import(room_of(module), room_of(other)), f"{module} may not import {other}"
        assert names <= set(EXPORT.findall(SOURCES[other])), f"{module} imports what {other} does not export"


def test_no_module_is_left_unused_and_no_cycle_is_there() -> None:
    reached: set[str] = set()

    def visit(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, f"a cycle: {' -> '.join((*above, module))}"
        if module not in reached:
            for other, _ in imports(module):
                visit(other, (*above, module))
            reached.add(module)

    visit("main.js", ())
    assert reached == set(SOURCES)


@pytest.mark.parametrize(("room", "other"), [("core", "words"), ("live", "alerts"), ("words", "main")])
def test_an_arrow_up_or_sideways_is_not_allowed(room: str, other: str) -> None:
    assert not may_import(room, other)
