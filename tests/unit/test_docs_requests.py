"""Requests that documents name: each is an operation of one of the APIs."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Final

import pytest

from tests.unit.test_docs import ROOT, documents
from tests.unit.test_docs_commands import HISTORY

REQUEST: Final = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE)\s+(/v1/[\w/{}.-]+)")
PARAMETER: Final = re.compile(r"\{[^}]*\}")


@cache
def operations() -> frozenset[tuple[str, str]]:
    """Methods and paths of registry, alert API and generator; a parameter is `{}`."""
    files = (ROOT / "contracts" / "openapi").glob("*.json")
    return frozenset(
        (method.upper(), plain(path))
        for file in files
        for path, item in json.loads(file.read_text(encoding="utf-8"))["paths"].items()
        for method in item
        if method != "parameters"
    )


def plain(path: str) -> str:
    return PARAMETER.sub("{}", path).rstrip(".")


def requests_in(text: str) -> list[tuple[str, str]]:
    return [(method, plain(path)) for method, path in REQUEST.findall(text)]


def unknown(text: str) -> list[tuple[str, str]]:
    """Requests of a text that no API takes. What stands in the place of a parameter may be a value."""
    return [
        (method, path)
        for method, path in requests_in(text)
        if not any(method == known and fits(path, template) for known, template in operations())
    ]


def fits(path: str, template: str) -> bool:
    parts, wanted = path.split("/"), template.split("/")
    return len(parts) == len(wanted) and all(
        want in (part, "{}") for part, want in zip(parts, wanted, strict=True)
    )


def test_every_request_of_the_documents_is_taken() -> None:
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in documents()}
    present = {name: text for name, text in texts.items() if not HISTORY.match(name)}
    assert {name: told for name, text in present.items() if (told := unknown(text))} == {}
    assert sum(len(requests_in(text)) for text in present.values()) > 60


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`POST /v1/rules/{id}/shadow/rollout`, `{\"percent\": 5}`", []),
        ("`POST /v1/rules/3/shadow/promote`", []),
        ("`POST /v1/rules/{id}/shadow/widen`", [("POST", "/v1/rules/{}/shadow/widen")]),
        ("`PUT /v1/rules/{id}/shadow/rollout`", [("PUT", "/v1/rules/{}/shadow/rollout")]),
        ("So `GET\n/v1/alerts/{id}/explanation` says. And POST /v1/replays.", []),
    ],
)  # fmt: skip
def test_requests_that_nobody_takes_are_told(text: str, expected: list[tuple[str, str]]) -> None:
    assert unknown(text) == expected
