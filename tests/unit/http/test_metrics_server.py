"""Sockets at a metrics port: few at once, none for long, and none that keeps a probe or a scrape out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

import httpx
import pytest
from prometheus_client import CollectorRegistry

from tests.sockets import connected, is_closed
from tripline_http.application import Access, new_app
from tripline_http.bind_address import Bind, parse_metrics_bind
from tripline_http.errors import ConfigurationError
from tripline_http.metrics_server import LIMITS, MetricsServer, metrics_beside
from tripline_http.server import Limits

ANY_PORT = Bind("127.0.0.1", 0)
SECONDS = 1.0
BRIEF = replace(LIMITS, head_seconds=SECONDS, request_seconds=SECONDS, idle_seconds=SECONDS)


def served(limits: Limits = LIMITS, check: Callable[[], None] = lambda: None) -> MetricsServer:
    return MetricsServer(ANY_PORT, CollectorRegistry(), {"all": check}, limits)


@pytest.mark.parametrize("said", [b"", b"GET /metrics HTTP/1.1\r\nX: "], ids=["idle", "heads"])
def test_sockets_that_wait_hold_no_thread_and_few_seats_and_end(said: bytes) -> None:
    with served(BRIEF) as server, ExitStack() as stack:
        threads = threading.active_count()
        held = [stack.enter_context(connected(server.port, said)) for _ in range(150)]
        for path in ("/livez", "/readyz", "/metrics"):
            assert httpx.get(f"http://127.0.0.1:{server.port}{path}", timeout=30).status_code == 200
        assert threading.active_count() <= threads
        assert sum(not is_closed(connection) for connection in held) <= LIMITS.connections
        deadline = time.monotonic() + SECONDS + 60
        while not all(is_closed(connection) for connection in held):
            assert time.monotonic() < deadline, "they are closed when their time is over"
            time.sleep(0.05)


def test_a_check_that_hangs_keeps_no_scrape_out() -> None:
    going_on = threading.Event()
    with served(check=lambda: (going_on.wait(30), None)[1]) as server, ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(connected(server.port, b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"))
        for path in ("/livez", "/metrics"):
            assert httpx.get(f"http://127.0.0.1:{server.port}{path}", timeout=30).status_code == 200
        going_on.set()


def test_its_port_is_free_again_once_it_has_stopped() -> None:
    with served() as server:
        bind = Bind("127.0.0.1", server.port)
        with pytest.raises(ConfigurationError, match="TRIPLINE_METRICS_BIND"):
            MetricsServer(bind, CollectorRegistry(), {})
        assert httpx.get(f"http://{bind}/livez", timeout=30).status_code == 200
    with MetricsServer(bind, CollectorRegistry(), {}):
        assert httpx.get(f"http://{bind}/livez", timeout=30).status_code == 200


@pytest.mark.parametrize("host", ["localhost", "::1", "0.0.0.0"])
def test_it_listens_where_it_is_told(host: str) -> None:
    with MetricsServer(Bind(host, 0), CollectorRegistry(), {}) as server:
        seen = f"[{host}]" if ":" in host else host
        assert httpx.get(f"http://{seen}:{server.port}/livez", timeout=30).status_code == 200


@pytest.mark.parametrize(
    ("api", "given", "bind"),
    [
        ("127.0.0.1", "", None),
        ("127.0.0.1", "127.0.0.1:9", Bind("127.0.0.1", 9)),
        ("0.0.0.0", "", Bind("127.0.0.1", 9111)),
        ("0.0.0.0", "0.0.0.0:9", Bind("0.0.0.0", 9)),
    ],
)
def test_metrics_are_not_on_an_api_s_port_that_others_reach(api: str, given: str, bind: Bind | None) -> None:
    assert parse_metrics_bind(Bind(api, 8081), given, "127.0.0.1:9111") == bind


def test_a_metrics_bind_that_is_none_is_named() -> None:
    with pytest.raises(ConfigurationError, match="TRIPLINE_HTTP_METRICS_BIND is '9111'; expected host:port"):
        parse_metrics_bind(Bind("127.0.0.1", 8081), "9111", "127.0.0.1:9111")


def test_metrics_of_an_api_are_beside_it_and_tell_of_its_requests() -> None:
    registry = CollectorRegistry()
    api = new_app("api", access=Access(metrics=False), registry=registry, checks={}).test_client()
    assert api.get("/metrics").status_code == 404
    assert metrics_beside(None, registry) is None, "they are on the API's own port"
    server = metrics_beside(ANY_PORT, registry)
    assert server is not None
    try:
        text = httpx.get(f"http://127.0.0.1:{server.port}/metrics", timeout=30).text
    finally:
        server.stop()
    told = [line for line in text.splitlines() if line.startswith("tripline_http_request_seconds_count")]
    assert told == ['tripline_http_request_seconds_count{method="GET",route="none",status="404"} 1.0']
