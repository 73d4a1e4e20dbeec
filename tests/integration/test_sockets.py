"""Sockets that say little and stay: they hold no thread, keep nobody out, and are closed when their time is over."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.sockets import connected, is_closed
from tripline_demo.processes import ports
from tripline_http.server import LIMITS, STALLED_SECONDS

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(180)]

THREADS = 4
AT_ONCE = 5.0
"""Seconds: sooner than any limit ends what others hold, so whoever is answered by then did not wait for them."""
PROGRAM = """
import sys, threading
from flask import Flask, Response, request
from prometheus_client import CollectorRegistry
from tripline_http.application import Access, new_app
from tripline_http.bind_address import Bind
from tripline_http.server import serve

stopping = threading.Event()

def load():
    app = new_app("held", access=Access(hosts=None), registry=CollectorRegistry(), checks={})
    app.add_url_rule("/held", "held", lambda: (stopping.wait(60), "done")[1])
    app.add_url_rule("/echo", "echo", lambda: str(len(request.get_data())), methods=["POST"])
    def endless():
        yield "begin"
        while not stopping.wait(0.01):
            yield "x" * 65536
    app.add_url_rule("/endless", "endless", lambda: Response(endless(), mimetype="text/plain"))
    return app

serve(load, Bind("127.0.0.1", int(sys.argv[1])), threads=int(sys.argv[2]), on_stopping=stopping.set,
      on_stop=lambda: print("stopped", flush=True))
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A process that serves with so few threads."""

    process: subprocess.Popen[bytes]
    port: int

    def connect(self, said: bytes = b"") -> socket.socket:
        return connected(self.port, said)

    def asked(self, path: str, seconds: float = AT_ONCE) -> int:
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=seconds).status_code


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (port,) = ports.free_ports(1)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    words = [sys.executable, str(program), str(port), str(THREADS)]
    with (tmp_path / "said").open("w") as said, subprocess.Popen(words, stdout=said) as process:
        deadline = time.monotonic() + 120
        while not ports.is_open(port):
            assert time.monotonic() < deadline, "it listens"
            time.sleep(0.05)
        yield Server(process, port)
        process.kill()


GET = b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n"
HELD = LIMITS.connections_of_an_address + 10
HALF_A_HEAD = b"GET /livez HTTP/1.1\r\nHost: x\r\nX: "
HALF_A_BODY = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc"


def test_idle_heads_and_bodies_keep_nobody_out_and_are_closed(server: Server) -> None:
    with ExitStack() as stack:
        began = time.monotonic()
        heads = [stack.enter_context(server.connect(HALF_A_HEAD)) for _ in range(32)]
        bodies = [stack.enter_context(server.connect(HALF_A_BODY)) for _ in range(32)]
        silent = [stack.enter_context(server.connect()) for _ in range(16)]
        assert server.asked("/livez") == 200
        posted = httpx.post(f"http://127.0.0.1:{server.port}/echo", content=b"x" * 1000, timeout=AT_ONCE)
        assert posted.text == "1000"
        # whoever trickles is closed by the time of the whole, not of the silence
        until = began + LIMITS.request_seconds + 60
        while time.monotonic() < until and any(
            not is_closed(connection) for connection in (*heads, *bodies, *silent)
        ):
            for connection in (*heads[:4], *bodies[:4]):
                trickle(connection)
            assert server.asked("/livez") == 200
            time.sleep(0.2)
        assert [is_closed(connection) for connection in (*heads, *bodies, *silent)] == [True] * 80
        assert time.monotonic() - began > LIMITS.head_seconds


def trickle(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.sendall(b"x")


HOST = b"Host: x\r\nConnection: close\r\n"
POST = b"POST /echo HTTP/1.1\r\n" + HOST
REFUSED = {
    "a header without a colon": b"GET /livez HTTP/1.1\r\nHost x\r\n\r\n",
    "no request line": b"GARBAGE\r\n\r\n",
    "a bare line feed": b"GET /livez HTTP/1.1\r\nHost: x\nX: y\r\n\r\n",
    "a length beside chunks": POST
    + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "a signed length": POST + b"Content-Length: +3\r\n\r\nabc",
    "two lengths": POST + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "an address that is none": b"GET http://[ HTTP/1.1\r\n" + HOST + b"\r\n",
    "a chunk that is none": POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n",
}


def test_heads_and_bodies_that_are_none_are_refused(server: Server) -> None:
    said = {}
    for what, sent in REFUSED.items():
        with server.connect(sent) as connection:
            answer = b"".join(iter(lambda: received(connection), b""))  # up to its end
            said[what] = answer[9:12]
        head, _, body = answer.partition(b"\r\n\r\n")
        assert json.loads(body)["status"] == 400
        for header in (b"Content-Type: application/problem+json", b"X-Content-Type-Options: nosniff"):
            assert header in head.split(b"\r\n")
    assert said == dict.fromkeys(REFUSED, b"400")
    chunks = POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
    with server.connect(chunks) as connection:
        assert received(connection).startswith(b"HTTP/1.1 200")


def test_with_every_thread_busy_it_says_that_it_lives(server: Server) -> None:
    with ExitStack() as stack:
        for _ in range(THREADS + 4):
            stack.enter_context(server.connect(b"GET /held HTTP/1.1\r\nHost: x\r\n\r\n"))
        assert server.asked("/livez") == 200
        assert server.asked("/readyz") == 200
        with pytest.raises(httpx.ReadTimeout):
            server.asked("/echo", seconds=0.3)


@pytest.mark.parametrize("said", [b"", HALF_A_HEAD, HALF_A_BODY], ids=["idle", "heads", "bodies"])
def test_an_address_full_of_sockets_that_wait_is_served_all_the_same(server: Server, said: bytes) -> None:
    with ExitStack() as stack:
        stack.enter_context(server.connect(HALF_A_HEAD))
        for _ in range(5):
            held = [stack.enter_context(server.connect(said)) for _ in range(HELD)]
            for path in ("/livez", "/readyz", "/nothing"):
                assert server.asked(path) == (404 if path == "/nothing" else 200)
            posted = httpx.post(f"http://127.0.0.1:{server.port}/echo", content=b"x" * 1000, timeout=AT_ONCE)
            assert posted.text == "1000"
            kept = [not is_closed(connection) for connection in held]
            assert 0 < sum(kept) <= LIMITS.connections_of_an_address
            assert kept == sorted(kept), "those that waited the longest are closed"


def test_a_request_in_work_is_not_closed_for_others(server: Server) -> None:
    with ExitStack() as stack:
        held = stack.enter_context(server.connect(GET % b"/held"))
        for _ in range(2 * HELD):
            stack.enter_context(server.connect())
        assert server.asked("/livez") == 200
        assert not is_closed(held)
        server.process.send_signal(signal.SIGTERM)
        assert received(held).startswith(b"HTTP/1.1 200")


def test_with_every_connection_of_an_address_in_work_a_new_one_is_refused(server: Server) -> None:
    with ExitStack() as stack:
        for _ in range(LIMITS.connections_of_an_address):
            stack.enter_context(server.connect(GET % b"/held"))
        other = stack.enter_context(connected_from("127.0.0.2", server.port))
        other.sendall(GET % b"/livez")  # once it is answered, the requests before it have been read
        assert received(other).startswith(b"HTTP/1.1 200")
        assert received(stack.enter_context(server.connect(GET % b"/livez"))) == b""


def test_readers_that_take_nothing_make_room(server: Server) -> None:
    with ExitStack() as stack:
        for _ in range(THREADS):
            stack.enter_context(server.connect(GET % b"/endless"))
        for _ in range(LIMITS.connections_of_an_address - THREADS):
            stack.enter_context(server.connect(GET % b"/held"))
        deadline = time.monotonic() + STALLED_SECONDS + 60
        while not received(stack.enter_context(server.connect(GET % b"/livez"))).startswith(b"HTTP/1.1 200"):
            assert time.monotonic() < deadline, "a seat is free again"
            time.sleep(0.1)


def test_a_server_full_of_sockets_of_many_addresses_is_served_all_the_same(server: Server) -> None:
    addresses = [f"127.0.1.{number}" for number in range(1, 7)]
    with ExitStack() as stack:
        for _ in range(2):
            for address in addresses:
                for _ in range(LIMITS.connections_of_an_address):
                    stack.enter_context(connected_from(address, server.port)).sendall(HALF_A_HEAD)
            assert server.asked("/livez") == 200
            assert server.asked("/nothing") == 404


def connected_from(address: str, port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=5, source_address=(address, 0))


def received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(4096)
    except ConnectionResetError:
        return b""


def test_a_reader_that_takes_nothing_gives_its_thread_back(server: Server) -> None:
    with ExitStack() as stack:
        for _ in range(THREADS):
            stack.enter_context(server.connect(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n"))
        deadline = time.monotonic() + LIMITS.request_seconds + 60
        while True:
            try:
                assert server.asked("/nothing") == 404
                break
            except httpx.ReadTimeout:
                assert time.monotonic() < deadline, "threads of readers that take nothing are free again"


def test_a_caller_that_goes_away_gives_its_thread_back(server: Server) -> None:
    for _ in range(THREADS):
        with server.connect(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n") as connection:
            assert connection.recv(4)
    assert server.asked("/nothing", seconds=30) == 404


def test_asked_to_stop_it_lets_running_requests_end(server: Server, tmp_path: Path) -> None:
    with server.connect(b"GET /held HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") as held:
        assert server.asked("/livez") == 200
        server.process.send_signal(signal.SIGTERM)
        answer = b""
        while more := held.recv(4096):
            answer += more
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"done")
    assert server.process.wait(60) == 0
    assert (tmp_path / "said").read_text().endswith("stopped\n")
