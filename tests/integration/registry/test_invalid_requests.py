"""Bodies that are no JSON, no rule, too long or badly chunked: each gets a problem document."""

from __future__ import annotations

import json
import socket

import httpx
import pytest

from tests.registry import RegistryApi

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    ("body", "content_type", "status", "reason"),
    [
        (b'{"name": "\\u0000"}', "application/json", 422, "U+0000 fits no Postgres text"),
        (b'{"name": "\\ud800"}', "application/json", 422, "a lone surrogate is no text"),
        (b'{"\\u0000": 1}', "application/json", 422, "not in a key either"),
        (b"[" * 100_000, "application/json", 400, "deeper than anything reads"),
        (b'{"limit": ' + b"9" * 10_000 + b"}", "application/json", 400, "longer than Python converts"),
        (b'{"limit": 1e999999999999999999999}', "application/json", 400, "beyond Decimal"),
        (b'{"limit": 1e400}', "application/json", 422, "beyond decimal(24,6)"),
        (b'{"limit": NaN}', "application/json", 400, "no JSON"),
        (b"\xff\xfe{\x00}\x00", "application/json", 400, "UTF-16"),
        (b'{"name": "\xe9"}', "application/json", 400, "Latin-1"),
        (b"", "application/json", 400, "nothing"),
        (b"null", "application/json", 422, "no object"),
        (b'"text"', "application/json", 422, "no object"),
        (b"{}", "text/plain", 415, "another media type"),
        (b"a=b", "application/x-www-form-urlencoded", 415, "a form"),
        (b" " * 300_000, "application/json", 413, "too long"),
    ],
)
def test_garbage_is_a_clear_problem(
    client: httpx.Client, body: bytes, content_type: str, status: int, reason: str
) -> None:
    answer = client.post("/v1/rules", content=body, headers={"Content-Type": content_type})
    assert answer.status_code == status, (reason, answer.text)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert json.loads(answer.text)["detail"]


def test_null_is_no_empty_object(api: RegistryApi) -> None:
    with api.client("everything-key-for-tests") as admin:
        answer = admin.post(
            "/v1/keys/nobody/rotate", content=b"null", headers={"Content-Type": "application/json"}
        )
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"] == [{"field": "body", "message": "expected a JSON object"}]


def test_every_wrong_field_is_named(client: httpx.Client) -> None:
    body = {
        "ruleState": "PAUSE",
        "groupingKeyNames": ["payeId"],
        "limit": "much",
        "windowSeconds": 0,
        "nmae": "x",
    }
    problem = client.post("/v1/rules", json=body).json()
    fields = {error["field"] for error in problem["errors"]}
    assert {"ruleState", "groupingKeyNames", "limit", "windowSeconds", "nmae", "limitOperatorType"} <= fields


@pytest.mark.parametrize(
    ("path", "key", "expected"),
    [
        ("/v1/rules", "analyst-key-for-tests", {413}),
        # Wrong keys are throttled after some.
        ("/v1/rules", "unknown", {401, 429}),
        ("/v1/nowhere", "analyst-key-for-tests", {404}),
    ],
)
def test_who_sends_too_much_is_told_so(api: RegistryApi, path: str, key: str, expected: set[int]) -> None:
    """A server that closes on what it has not read resets the connection, and its answer may be lost with it."""
    with api.client(key) as client:
        statuses = [
            client.post(path, content=b" " * size, headers={"Content-Type": "application/json"}).status_code
            for size in (262_145, 1_000_000, 3_000_000)
            for _ in range(10)
        ]
    assert len(statuses) == 30
    assert set(statuses) == expected


@pytest.mark.parametrize(
    ("key", "body", "status"),
    [
        ("analyst-key-for-tests", b"ZZ\r\n{}\r\n0\r\n\r\n", 400),
        ("analyst-key-for-tests", b"2\r\n{}0\r\n\r\n", 400),
        ("analyst-key-for-tests", b"5;x=\x00\r\nhello\r\n0\r\n\r\n", 400),
        ("", b"ZZ\r\n{}\r\n0\r\n\r\n", 400),
    ],
)
def test_chunks_that_are_none_are_a_problem_too(api: RegistryApi, key: str, body: bytes, status: int) -> None:
    host, port = api.url.removeprefix("http://").split(":")
    head = (
        f"POST /v1/rules HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(head.encode() + body)
        answer = connection.recv(4096).decode()
    assert answer.startswith(f"HTTP/1.1 {status} "), answer
    with api.client() as client:
        assert client.get("/v1/rules").status_code == 200
