"""Sockets at the engine's metrics port: few at once, none for long, and none that keeps a probe out."""

from __future__ import annotations

import threading
import time
import urllib.request
from contextlib import ExitStack

import pytest
from prometheus_client import CollectorRegistry

from tests.sockets import connected, is_closed
from tripline_engine.http_endpoint import CONNECTIONS, serving

SECONDS = 1.0


def fine() -> None:
    return None


def asked(port: int, path: str) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as answer:
        return int(answer.status)


@pytest.mark.parametrize("said", [b"", b"GET /metrics HTTP/1.1\r\nX: "], ids=["idle", "heads"])
def test_sockets_that_wait_hold_few_threads_and_end(said: bytes) -> None:
    before = threading.active_count()
    with serving("127.0.0.1", 0, CollectorRegistry(), fine, fine, SECONDS) as port, ExitStack() as stack:
        held = [stack.enter_context(connected(port, said)) for _ in range(150)]
        for path in ("/livez", "/readyz", "/metrics"):
            assert asked(port, path) == 200
        assert threading.active_count() <= before + 1 + CONNECTIONS
        assert sum(not is_closed(connection) for connection in held) <= CONNECTIONS
        deadline = time.monotonic() + SECONDS + 60
        while not all(is_closed(connection) for connection in held):
            held[-1].send(b"x") if said and not is_closed(held[-1]) else None
            assert time.monotonic() < deadline, "they are closed when their time is over, though they trickle"
            time.sleep(0.05)


def test_with_every_thread_in_a_probe_more_are_refused_and_room_is_made_again() -> None:
    going_on = threading.Event()
    with (
        serving("127.0.0.1", 0, CollectorRegistry(), lambda: None if going_on.wait(30) else "", fine) as port,
        ExitStack() as stack,
    ):
        for _ in range(CONNECTIONS):
            stack.enter_context(connected(port, b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"))
        beyond = stack.enter_context(connected(port))
        assert beyond.recv(1) == b""
        going_on.set()
        assert asked(port, "/readyz") == 200
