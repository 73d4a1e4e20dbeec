"""Local names say what they hold: a few words that say nothing are no names of variables or parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.sizes import ROOT, tracked

EMPTY = frozenset({"found", "at", "place", "each", "own"})


def test_no_variable_has_a_name_that_says_nothing() -> None:
    named = [
        f"{path}:{line} {name}"
        for path in tracked()
        if path.suffix == ".py"
        for line, name in empty_names((ROOT / path).read_text(encoding="utf-8"))
    ]
    assert named == []


def test_variables_parameters_and_targets_are_seen_and_members_are_not() -> None:
    source = "def f(at, *own):\n    for each in own:\n        (place, found) = each\n    return [x for x in found]\n"
    assert sorted(name for _, name in empty_names(source)) == ["at", "each", "found", "own", "place"]
    assert list(empty_names("class Read:\n    at: float\n\n\ndef at(x): ...\n")) == []


def empty_names(source: str) -> Iterator[tuple[int, str]]:
    """(line, name) of variables and parameters; members of classes are read with their object's name before them."""
    tree = ast.parse(source)
    members = {
        id(statement.target)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in members:
            name, line = node.id, node.lineno
        elif isinstance(node, ast.arg):
            name, line = node.arg, node.lineno
        else:
            continue
        if name in EMPTY:
            yield line, name


def test_files_are_read_at_all() -> None:
    assert Path("engine/src/tripline_engine/domain/shard/batch.py") in set(tracked())


# what JavaScript declares: constants, single parameters, and parameters in a row
_WORD = f"(?:{'|'.join(sorted(EMPTY))})"
DECLARED = re.compile(
    rf"\b(?:const|let) {_WORD} =|\({_WORD}(?:, \w+)*\) (?:=>|{{)|(?<=\w, ){_WORD}\) (?:=>|{{)"
)


def test_no_variable_of_the_console_has_such_a_name() -> None:
    named = [
        f"{path} {declared[0]}"
        for path in tracked()
        if path.suffix == ".js"
        for declared in DECLARED.finditer((ROOT / path).read_text(encoding="utf-8"))
    ]
    assert named == []


def test_declarations_of_javascript_are_seen() -> None:
    source = "const found = 1;\nitems.map((each) => each.at);\nfunction move(place, x) {}\nconst f = (x, own) => own;\n"
    assert [declared[0] for declared in DECLARED.finditer(source)] == [
        "const found =",
        "(each) =>",
        "(place, x) {",
        "own) =>",
    ]
