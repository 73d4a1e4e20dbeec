"""JSON bodies that name a member twice, at every endpoint that takes JSON: refused, and the member named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from rules_registry.service.rule_file_lines import read_text
from tests.contract.support.http_apps import EVERYTHING, SERVICES, app_named, bearer, endpoints
from tripline_contracts.recordings.json_rows import json_lines
from tripline_contracts.recordings.lines import Lines
from tripline_contracts.recordings.rows import BadRow, Raw

pytestmark = pytest.mark.contract

JSON = "application/json"
RECORDINGS = ("generator", "POST", "/v1/replays")
"""It takes a file, whatever it is packed as: a broken row costs itself alone, and the report names it."""


def takers_of(media_type: str) -> Iterator[tuple[str, str, str]]:
    """Service, method and path of each operation that takes such a body."""
    paths = {(e.service, e.name): e.path for e in endpoints()}
    for service in SERVICES:
        for name, operation in operations(app_named(service).test_client()):
            if media_type in operation.get("requestBody", {}).get("content", {}):
                yield service, name.split()[0], paths[service, name]


def operations(client: FlaskClient) -> list[tuple[str, Any]]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, item in client.get("/openapi.json").get_json()["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    ]


TAKERS = [taker for taker in takers_of(JSON) if taker != RECORDINGS]


def test_bodies_of_all_services_are_looked_at() -> None:
    assert {service for service, _, _ in TAKERS} == set(SERVICES)
    assert len(TAKERS) >= 9


@pytest.fixture(scope="module")
def apps() -> dict[str, Flask]:
    return {service: app_named(service) for service in SERVICES}


@pytest.mark.parametrize(("service", "method", "path"), TAKERS, ids=" ".join)
@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"limit": "5", "limit": "1000000"}', "limit"),
        (b'{"name": "x", "filter": [{"field": "a", "\\u0066ield": "a"}]}', "field"),
        (b'[{"\\ud800": 1, "\\ud800": 1}]', "?"),
    ],
)
def test_a_repeated_member_is_refused(
    apps: dict[str, Flask], service: str, method: str, path: str, body: bytes, field: str
) -> None:
    headers = {**bearer(EVERYTHING), "If-Match": "*"}
    client = apps[service].test_client(use_cookies=False)
    answer = client.open(path, method=method, data=body, content_type=JSON, headers=headers)
    assert (answer.status_code, answer.content_type) == (400, "application/problem+json"), answer.text
    assert [error["field"] for error in answer.get_json()["errors"]] == [field]


def test_a_line_of_a_rule_file_is_refused_by_itself() -> None:
    line = '{"ruleId": 1, "ruleState": "PAUSE", "ruleId": 2}'
    (read,) = read_text(line)
    assert read.wanted is None
    assert "'ruleId' is given twice" in read.problems[0].message


def test_a_row_of_a_recording_is_refused_by_itself() -> None:
    good, bad, after = json_lines(Lines([b'{"a": 1}\n', b'{"a": 1, "\\u0061": 2}\n', b'{"a": 3}\n']))
    assert (good, after) == (Raw(1, {"a": 1}), Raw(3, {"a": 3}))
    assert isinstance(bad, BadRow)
    assert (bad.line, "'a' is given twice" in bad.reason) == (2, True)
