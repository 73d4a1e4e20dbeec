"""docs/semantics.md: every paragraph names tests that hold it, and every test that it names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEMANTICS = ROOT / "docs" / "semantics.md"
TEST = re.compile(r"`(tests/[\w/]+\.py)::([\w:]+)`")
FREE = "## Not yet"


def paragraphs(text: str) -> list[str]:
    """Blocks between empty lines that have to name a test: no headings, tables, code, and not what is not built."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    sections = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    kept = "\n\n".join(section for section in sections if not section.startswith(FREE))
    blocks = [block.strip() for block in re.split(r"\n\s*\n", kept)]
    return [block for block in blocks if block and not block.startswith(("#", "|"))]


def unheld(text: str) -> list[str]:
    """Paragraphs that name no test."""
    return [block for block in paragraphs(text) if not TEST.search(block)]


def missing(text: str, root: Path = ROOT) -> list[str]:
    """Tests that are named and don't exist, and mentions of tests that are written otherwise."""
    named = TEST.findall(text)
    mentions = re.findall(r"tests/\S+::\w+", text)
    absent = [f"{file}::{name}" for file, name in named if name not in functions_of(root / file)]
    return absent + [mention for mention in mentions if f"`{mention}" not in text]


@cache
def functions_of(path: Path) -> frozenset[str]:
    """Names of the test functions of a file, those in classes as `Class::test`."""
    if not path.is_file():
        return frozenset()
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found.update(
                f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)
            )
    return frozenset(name for name in found if name.rpartition("::")[2].startswith("test_"))


def test_every_test_named_exists() -> None:
    text = SEMANTICS.read_text(encoding="utf-8")
    assert missing(text) == []
    assert len(TEST.findall(text)) > 100


def test_every_paragraph_names_a_test() -> None:
    assert unheld(SEMANTICS.read_text(encoding="utf-8")) == []


HERE = "`tests/unit/test_docs.py::test_every_test_named_exists`"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"# Title\n\nHeld.\n<sub>{HERE}</sub>\n", []),
        ("# Title\n\nNot held.\n", ["Not held."]),
        (f"- held\n  {HERE}\n\n- not held\n", ["- not held"]),
        ("## 1\n\n| a |\n|---|\n\n```\ncode\n\nmore\n```\n", []),
        (f"{FREE}\n\nNothing of this.\n\n## After\n\nBut of this.\n", ["But of this."]),
        ("`tests/unit/test_docs.py` names a file only.\n", ["`tests/unit/test_docs.py` names a file only."]),
    ],
)
def test_paragraphs_without_a_test_are_found(text: str, expected: list[str]) -> None:
    assert unheld(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HERE, []),
        ("`tests/unit/test_docs.py::test_gone`", ["tests/unit/test_docs.py::test_gone"]),
        ("`tests/unit/test_docs.py::unheld`", ["tests/unit/test_docs.py::unheld"]),
        ("`tests/unit/no_such_file.py::test_x`", ["tests/unit/no_such_file.py::test_x"]),
        ("tests/unit/test_docs.py::test_bare", ["tests/unit/test_docs.py::test_bare"]),
        ("`tests/contract/test_topics.py::TestAsyncApi::test_is_what_the_topics_say`", []),
        (
            "`tests/contract/test_topics.py::TestAsyncApi::test_no`",
            ["tests/contract/test_topics.py::TestAsyncApi::test_no"],
        ),
    ],
)
def test_tests_that_do_not_exist_are_found(text: str, expected: list[str]) -> None:
    assert missing(text) == expected
