"""Requests of the client: what is sent twice and what is not, pages, and refusals in words."""

from __future__ import annotations

import httpx
import pytest

from rules_registry.client.client_settings import ClientSettings
from rules_registry.client.errors import RegistryUnreachable, RequestRefused
from rules_registry.client.http_session import HttpSession

SETTINGS = ClientSettings("https://registry.example/risk", "a-key-for-tests-only")


class Server:
    """Answers with what it is given, the last one again and again; None is a connection that breaks."""

    def __init__(self, *answers: httpx.Response | None) -> None:
        self._answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if answer is None:
            raise httpx.ReadError("gone", request=request)
        return answer

    def session(self) -> HttpSession:
        return HttpSession(SETTINGS, httpx.MockTransport(self), self.slept.append)


def ok(**members: object) -> httpx.Response:
    return httpx.Response(200, json=members)


def test_what_can_be_repeated_is_sent_again_with_the_same_key() -> None:
    server = Server(None, None, ok(a=1))
    assert server.session().change("POST", "/v1/rules", key="k", body={"x": 1}) == (200, {"a": 1})
    assert [request.headers["Idempotency-Key"] for request in server.requests] == ["k"] * 3
    assert {request.content for request in server.requests} == {b'{"x":1}'}
    server = Server(None, ok(a=1))
    assert server.session().get("/v1/rules/7") == {"a": 1}


def test_what_may_have_happened_is_not_sent_again() -> None:
    server = Server(None, ok())
    with pytest.raises(RegistryUnreachable, match=r"gave no answer to PUT /v1/rules/7: ReadError: gone"):
        server.session().change("PUT", "/v1/rules/7", version=3)
    assert [request.headers["If-Match"] for request in server.requests] == ['"3"']


def test_it_gives_up_after_a_few_times() -> None:
    server = Server(None)
    with pytest.raises(RegistryUnreachable, match="gave no answer to GET"):
        server.session().get("/v1/rules")
    assert len(server.requests) == 3


def test_who_was_too_fast_waits_and_sends_anything_again() -> None:
    too_fast = httpx.Response(429, headers={"Retry-After": "2"})
    server = Server(
        too_fast, httpx.Response(429, headers={"Retry-After": "9999"}), httpx.Response(429), ok(a=1)
    )
    assert server.session().change("PUT", "/v1/rules/7", version=3) == (200, {"a": 1})
    assert server.slept == [2.0, 10.0, 1.0]
    endless = Server(too_fast)
    with pytest.raises(RequestRefused, match="429"):
        endless.session().get("/v1/rules")
    assert len(endless.slept) == 20


def test_pages_are_followed_below_the_address_that_was_given() -> None:
    first = httpx.Response(
        200, json={"items": [{"n": 1}]}, headers={"Link": '</v1/rules?cursor=x>; rel="next"'}
    )
    server = Server(first, ok(items=[{"n": 2}]))
    assert [item["n"] for item in server.session().items("/v1/rules", {"state": "PAUSED"})] == [1, 2]
    assert [str(request.url) for request in server.requests] == [
        "https://registry.example/risk/v1/rules?limit=100&state=PAUSED",
        "https://registry.example/risk/v1/rules?cursor=x",
    ]
    assert server.requests[0].headers["Authorization"] == "Bearer a-key-for-tests-only"


def problem(**members: object) -> httpx.Response:
    return httpx.Response(422, json=members, headers={"Content-Type": "application/problem+json"})


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (
            problem(
                type="urn:tripline:problem:invalid", detail="No.", errors=[{"field": "limit", "message": "x"}]
            ),
            "invalid",
            "No. (422 invalid)\n  limit: x",
        ),
        (problem(type="about:blank", detail="No."), "", "No. (422)"),
        (
            httpx.Response(502, text="<html>"),
            "",
            "https://registry.example/risk answered GET /risk/v1/rules (502)",
        ),
    ],
)
def test_refusals_say_what_the_registry_said(answer: httpx.Response, kind: str, text: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        Server(answer).session().get("/v1/rules")
    assert (refused.value.kind, str(refused.value)) == (kind, text)


@pytest.mark.parametrize(
    "answer", [httpx.Response(200, text="<html>"), httpx.Response(200, json=[1]), ok(items=3)]
)
def test_what_is_no_registry_is_said_to_be_none(answer: httpx.Response) -> None:
    with pytest.raises(RegistryUnreachable, match="is it a registry"):
        list(Server(answer).session().items("/v1/rules"))
