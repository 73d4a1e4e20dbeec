""".env.example names every variable that the code reads, and none that nobody reads."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tripline_demo import paths

ROOT = paths.project_root()
SOURCES = ("contracts/src", "engine/src", "services", "demo/src", "migrations")
FULL = re.compile(r"TRIPLINE_[A-Z]+(?:_[A-Z]+)*")
BARE = re.compile(r"[A-Z]+(?:_[A-Z]+)*")
NOT_SETTINGS = {"TRIPLINE_STACK"}  # the mark that the stack's processes inherit


def names_in(tree: ast.AST) -> Iterator[str]:
    """Full names anywhere; names without their prefix where they are asked of an environment called `env`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and FULL.fullmatch(node.value):
            yield node.value
        if isinstance(node, ast.Call) and asks_env(node):
            for argument in node.args:
                if isinstance(argument, ast.Constant) and BARE.fullmatch(str(argument.value)):
                    yield f"TRIPLINE_{str(argument.value).removeprefix('TRIPLINE_')}"
                    break


def asks_env(call: ast.Call) -> bool:
    asked = call.func.value if isinstance(call.func, ast.Attribute) else next(iter(call.args), None)
    return isinstance(asked, ast.Name) and asked.id == "env"


def read_by_the_code() -> set[str]:
    files = [file for folder in SOURCES for file in (ROOT / folder).rglob("*.py")]
    return {name for file in files for name in names_in(ast.parse(file.read_text()))} - NOT_SETTINGS


def test_the_example_and_the_code_name_the_same_variables() -> None:
    lines = (ROOT / ".env.example").read_text().splitlines()
    named = [match[1] for line in lines if (match := re.match(r"(?:# )?(TRIPLINE_[A-Z_]+)=", line))]
    assert sorted(named) == sorted(read_by_the_code())


def test_the_reader_sees_the_ways_in_which_settings_are_read() -> None:
    source = (
        'env.str("A_B", "x"); f(env, "CD"); f(env, "TRIPLINE_EF", "G"); os.environ["TRIPLINE_H"]; f("NO")'
    )
    assert set(names_in(ast.parse(source))) == {"TRIPLINE_A_B", "TRIPLINE_CD", "TRIPLINE_EF", "TRIPLINE_H"}
