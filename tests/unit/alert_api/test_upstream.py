"""Another service behind the console: what is asked again where a connection breaks, and what is not."""

from __future__ import annotations

import httpx
import pytest

from alert_api.adapters.upstream import Question, Upstream
from alert_api.errors import UpstreamUnavailable


def upstream_that_breaks(times: int, error: type[httpx.TransportError], asked: list[str]) -> Upstream:
    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.method)
        if len(asked) <= times:
            raise error("broken", request=request)
        return httpx.Response(200, json={})

    return Upstream("The rules registry", "http://registry.example", httpx.MockTransport(answer))


@pytest.mark.parametrize("error", [httpx.RemoteProtocolError, httpx.ReadError])
def test_reading_is_asked_once_more(error: type[httpx.TransportError]) -> None:
    asked: list[str] = []
    assert upstream_that_breaks(1, error, asked).ask(Question("GET", "/v1/rules")).status == 200
    assert asked == ["GET", "GET"]


@pytest.mark.parametrize(
    ("method", "times", "error", "expected"),
    [
        ("GET", 2, httpx.ReadError, 2),
        ("POST", 1, httpx.ReadError, 1),
        ("GET", 1, httpx.ConnectError, 1),
        ("GET", 1, httpx.ReadTimeout, 1),
    ],
)
def test_what_is_not(method: str, times: int, error: type[httpx.TransportError], expected: int) -> None:
    asked: list[str] = []
    with pytest.raises(UpstreamUnavailable, match=error.__name__):
        upstream_that_breaks(times, error, asked).ask(Question(method, "/v1/rules"))
    assert len(asked) == expected
