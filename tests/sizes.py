"""Sizes of functions, classes, files and folders: `python -m tests.sizes` prints what is over its limit.

What a reader has to hold in mind at once is bounded: a function fits on a screen, a file is one idea, a folder can be
read as a list. Parameters of a function count, without `self` and `cls`; of a constructor, and of what BUILDERS names,
those that may be given by position, for a value's fields are named where it is made; of a click command none, for they
are its options. Of folders, HISTORIES may be as long as time makes them.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

ROOT = Path(__file__).parents[1]
FUNCTION_LINES = 60
PARAMETERS = 8
CLASS_LINES = 250
FILE_LINES = 300
FOLDER_MODULES = 20
SUFFIXES = (".py", ".js")
BUILDERS = frozenset({"tests/oracle/builders/shorthand.py"})
"""Modules whose functions do nothing but make values."""
HISTORIES = frozenset({PurePath("migrations/versions")})
"""Folders that are read from their end: nothing is ever taken out of them, and nobody looks for a room there."""


@dataclass(frozen=True, slots=True)
class Excess:
    """Something over its limit."""

    place: str
    what: str
    size: int
    limit: int

    def __str__(self) -> str:
        return f"{self.place}: {self.what} {self.size}, at most {self.limit}"


def tracked(root: Path = ROOT) -> list[PurePath]:
    """The modules in git below that folder, in Python and JavaScript, as paths from there."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True, check=True
    )
    paths = map(PurePath, listed.stdout.splitlines())
    return [path for path in paths if path.suffix in SUFFIXES and (root / path).is_file()]


def excesses(root: Path, modules: Iterable[PurePath]) -> Iterator[Excess]:
    """Everything over its limit, by file."""
    modules = list(modules)
    for module in modules:
        source = (root / module).read_text(encoding="utf-8")
        lines = len(source.splitlines())
        if lines > FILE_LINES:
            yield Excess(str(module), "lines", lines, FILE_LINES)
        if module.suffix == ".py":
            yield from _definitions(str(module), ast.parse(source))
    counts = Counter(module.parent for module in modules if module.name != "__init__.py")
    for folder, count in counts.items():
        if count > FOLDER_MODULES and folder not in HISTORIES:
            yield Excess(f"{folder}/", "modules", count, FOLDER_MODULES)


def _definitions(module: str, tree: ast.Module) -> Iterator[Excess]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from _over(f"{module}:{node.lineno} {node.name}", "lines", _lines(node), CLASS_LINES)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            location = f"{module}:{node.lineno} {node.name}"
            yield from _over(location, "lines", _lines(node), FUNCTION_LINES)
            count = _parameters(node, builds=module in BUILDERS)
            yield from _over(location, "parameters", count, PARAMETERS)


def _over(location: str, what: str, size: int, limit: int) -> Iterator[Excess]:
    if size > limit:
        yield Excess(location, what, size, limit)


def _lines(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    assert node.end_lineno is not None
    return node.end_lineno - first + 1


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef, *, builds: bool) -> int:
    by_position = [*node.args.posonlyargs, *node.args.args]
    bound_first = sum(parameter.arg in ("self", "cls") for parameter in by_position[:1])
    decorators = " ".join(map(ast.unparse, node.decorator_list))
    if builds or node.name == "__init__":
        return len(by_position) - bound_first
    if "command(" in decorators or "click." in decorators:
        return 0
    return len(by_position) - bound_first + len(node.args.kwonlyargs)


def main() -> None:
    """Prints each excess; exits with 1 if there is one."""
    over_limits = list(excesses(ROOT, tracked()))
    for excess in over_limits:
        print(excess)
    sys.exit(1 if over_limits else 0)


if __name__ == "__main__":
    main()
