"""The documents: lines of at most 120 columns, links that lead somewhere, files and commands that exist.

docs/semantics.md besides: every paragraph names tests that hold it, and every test that it names exists.
"""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SEMANTICS = ROOT / "docs" / "semantics.md"
TEST = re.compile(r"`(tests/[\w/]+\.py)::([\w:]+)`")
FREE = "## Not yet"
MAX_COLUMNS = 120
LINK_DEFINITION = re.compile(r"\[[^\]]+\]: \S+$")
"""A URL on a line of its own may be longer: it cannot be broken."""


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
    references: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            references.add(node.name)
        elif isinstance(node, ast.ClassDef):
            references.update(
                f"{node.name}::{inner.name}" for inner in node.body if isinstance(inner, ast.FunctionDef)
            )
    return frozenset(name for name in references if name.rpartition("::")[2].startswith("test_"))


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
        ("`tests/contract/test_asyncapi.py::TestAsyncApi::test_is_what_the_topics_say`", []),
        (
            "`tests/contract/test_asyncapi.py::TestAsyncApi::test_no`",
            ["tests/contract/test_asyncapi.py::TestAsyncApi::test_no"],
        ),
    ],
)
def test_tests_that_do_not_exist_are_found(text: str, expected: list[str]) -> None:
    assert missing(text) == expected


def documents() -> list[Path]:
    """Every Markdown file of the project."""
    return [ROOT / path.lstrip("/") for path in tracked() if path.endswith(".md")]


def too_long(text: str) -> list[int]:
    """Numbers of the lines over 120 columns."""
    return [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > MAX_COLUMNS and not LINK_DEFINITION.match(line)
    ]


def dead_links(document: Path) -> list[str]:
    """Relative links to a file that is not there, or to a heading that the file does not have."""
    text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    dead = []
    for link in re.findall(r"\]\(([^)\s:]+)\)", text):
        name, _, heading = link.partition("#")
        target = document.parent / name if name else document
        if not target.exists() or (heading and heading not in anchors(target)):
            dead.append(link)
    return dead


@cache
def anchors(document: Path) -> frozenset[str]:
    """What links to the headings of a document end with, as GitHub makes it."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)


def absent_files(document: Path) -> list[str]:
    """Names of source files in code spans, whole or the end of a path, that no tracked file has."""
    text = document.read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/-]+\.(?:py|js|mjs|sql))(?:::[\w:]+)?`", text))
    return sorted(name for name in named if not any(path.endswith(f"/{name}") for path in tracked()))


@cache
def tracked() -> tuple[str, ...]:
    """Paths of all files of the project, each with a leading slash."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return tuple(f"/{name}" for name in listing.stdout.splitlines() if (ROOT / name).is_file())


def test_no_line_is_longer_than_120_columns() -> None:
    long_lines = {
        str(path.relative_to(ROOT)): too_long(path.read_text(encoding="utf-8")) for path in documents()
    }
    assert {name: lines for name, lines in long_lines.items() if lines} == {}


def test_every_relative_link_leads_somewhere() -> None:
    links = {str(path.relative_to(ROOT)): dead_links(path) for path in documents()}
    assert {name: dead for name, dead in links.items() if dead} == {}


def test_every_source_file_named_exists() -> None:
    names = {str(path.relative_to(ROOT)): absent_files(path) for path in documents()}
    assert {document: absent for document, absent in names.items() if absent} == {}


def ends_of(module: str) -> tuple[str, str]:
    """How the path of its file ends."""
    path = module.replace(".", "/")
    return f"/{path}.py", f"/{path}/__main__.py"


def absent_commands(document: Path) -> list[str]:
    """Modules of ours that a document runs by `python -m` and that are not there."""
    named = set(
        re.findall(r"python -m ((?:bench|tests|tripline_\w+)[\w.]*\w)", document.read_text(encoding="utf-8"))
    )
    return sorted(module for module in named if not any(path.endswith(ends_of(module)) for path in tracked()))


def test_every_module_that_a_document_runs_exists() -> None:
    commands = {str(path.relative_to(ROOT)): absent_commands(path) for path in documents()}
    assert {document: absent for document, absent in commands.items() if absent} == {}


@cache
def sources() -> str:
    """The text of all sources, to look names up in."""
    paths = [
        ROOT / path.lstrip("/")
        for path in tracked()
        if path.endswith((".py", ".js", ".json", ".toml", ".yml"))
    ]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/glossary.md", "docs/architecture.md"])
def test_every_identifier_in_code_spans_occurs_in_the_sources(name: str) -> None:
    text = re.sub(
        r"^```.*?^```$", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    identifiers = set(re.findall(r"`([A-Za-z_]\w+)(?:\(\w*\))?`", text))
    assert sorted(identifier for identifier in identifiers if identifier not in sources()) == []
    assert len(identifiers) > 10


def test_the_glossary_is_alphabetical() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = [
        re.sub(r"[^a-z]", "", term.lower())
        for term in re.findall(r"^- \*\*(.+?)\*\*", glossary, re.MULTILINE)
    ]
    assert terms == sorted(terms)
    assert len(terms) > 50


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x" * 120, []),
        ("short\n" + "x" * 121, [2]),
        ("é" * 120, []),
        ("[name]: https://example.org/" + "x" * 120, []),
        ("| a | " + "x" * 120 + " |", [1]),
    ],
)
def test_long_lines_are_found(text: str, expected: list[int]) -> None:
    assert too_long(text) == expected
