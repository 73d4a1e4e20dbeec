"""YAML as data: numbers exact, texts as they are written, and nothing that hides."""

from __future__ import annotations

from decimal import Decimal

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rules_registry.domain.rule_files.yaml_documents import Document, read_documents


def only(text: str) -> Document:
    (document,) = read_documents(text)
    return document


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1000.50", Decimal("1000.50")),
        ("0.1", Decimal("0.1")),
        ("1e3", Decimal("1e3")),
        ("12", 12),
        ("-5", -5),
        ("0", 0),
        ("true", True),
        ("~", None),
        ("null", None),
        ("NO", "NO"),
        ("on", "on"),
        ("007", "007"),
        ("1_000", "1_000"),
        ("12:30", "12:30"),
        ("0x1F", "0x1F"),
        ("2026-11-27", "2026-11-27"),
        (".inf", ".inf"),
        ("=", "="),
        ('"12"', "12"),
        ("!!str 12", "12"),
    ],
)
def test_scalars(text: str, value: object) -> None:
    read = only(f"a: {text}\n").value
    assert read == {"a": value}
    assert isinstance(read, dict)
    assert type(read["a"]) is type(value)


@pytest.mark.parametrize(
    ("text", "line", "path", "message"),
    [
        ("a: 1\na: 2", 2, "a", "given twice; expected once"),
        ("a:\n  - b: 1\n    b: 2", 3, "a[0].b", "given twice; expected once"),
        ("a: &x 1\nb: *x", 2, "", "an alias (*name) is not read here"),
        ("a: !!python/object:os.system ls", 1, "a", "expected plain YAML, not the tag !!python/object:os.system"),
        ("a: !secret ls", 1, "a", "expected plain YAML, not the tag !secret"),
        ("a: !!int many", 1, "a", "expected a number, not 'many'"),
        ("? [a]\n: 1", 1, "", "expected texts as keys"),
        ("1: 2", 1, "", "expected texts as keys"),
        ("ok: 1\nname: One: two", 2, "", "mapping values are not allowed here"),
        ("a: [1", 1, "", "expected YAML"),
        ("a: \x07", 1, "", "special characters are not allowed"),
        ("[" * 5000, 1, "", "not something nested this deeply"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(text: str, line: int, path: str, message: str) -> None:
    document = only(text)
    (problem,) = document.problems
    assert (document.line_of(problem.field), problem.field) == (line, path)
    assert message in problem.message


def test_documents_are_numbered_and_empty_ones_say_nothing() -> None:
    documents = list(read_documents("# nothing\n---\na: 1\n---\n# nothing\n---\n- b\n---\n"))
    assert [(document.number, document.value, document.line) for document in documents] == [
        (1, {"a": 1}, 3),
        (3, ["b"], 7),
    ]
    assert list(read_documents("")) == []


def test_a_path_that_is_not_there_has_the_line_of_what_it_would_be_in() -> None:
    document = only("a: 1\nfilter:\n  All:\n    - field: x\n    - field: y\n")
    lines = {
        "a": 1,
        "filter.all[1].field": 5,
        "filter.all[1].value": 5,
        "filter.all[7]": 3,
        "filter.any[0].x": 2,
        "limit": 1,
        "": 1,
    }
    assert {path: document.line_of(path) for path in lines} == lines
    assert document.came("filter.all[0].field") == "x"
    assert document.came("filter.all[0].value") is None


_TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.from_regex("[a-z]{1,5}", fullmatch=True), inner)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), _TREES, min_size=1))
def test_what_another_program_has_written_is_read_as_it_was(value: dict[str, object]) -> None:
    for text in (yaml.safe_dump(value, allow_unicode=True), yaml.safe_dump(value, default_flow_style=True)):
        assert only(text).value == value


@settings(deadline=None)
@given(st.text(st.sampled_from("ab:-[]{}'\"&*!|>#\n\t %@1.,?~\x00é")))
def test_whatever_comes_is_read_or_told(text: str) -> None:
    for document in read_documents(text):
        assert document.number >= 1
        assert document.line >= 1
        assert document.value is not None or document.problems
