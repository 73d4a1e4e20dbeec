"""A turn of the server's loop that closes connections and takes new ones: the new ones are answered."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from flask import Flask
from waitress import wasyncore

from tests.sockets import connected, is_closed
from tripline_http.bind_address import Bind
from tripline_http.server import LIMITS, Server

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def server() -> Iterator[Server]:
    app = Flask("answers")
    app.add_url_rule("/", "root", lambda: "here")
    server = Server(app, Bind("127.0.0.1", 0), threads=1)
    yield server
    wasyncore.close_all(server._map, ignore_all=True)


def turn_until(server: Server, number: int) -> None:
    """Turns until it has so many connections."""
    deadline = time.monotonic() + 60
    while len(server.active_channels) != number:
        assert time.monotonic() < deadline, f"{len(server.active_channels)} connections"
        server.turn(0.05)


def answer_of(server: Server, connection: socket.socket) -> bytes:
    """What the server says, in turns of its own."""
    connection.setblocking(False)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            return connection.recv(65536)
        except BlockingIOError:
            server.turn(0.05)
    raise AssertionError("no answer")


def test_connections_taken_while_idle_ones_are_closed_are_answered(server: Server) -> None:
    with ExitStack() as stack:
        idle = [stack.enter_context(connected(server.effective_port)) for _ in range(8)]
        turn_until(server, 8)
        # they become overdue while nobody turns, as in a loop that waits for something to happen
        for channel in server.active_channels.values():
            channel.last_activity -= LIMITS.idle_seconds + 1
        server.closing_at = 0.0
        new = [stack.enter_context(connected(server.effective_port, GET)) for _ in range(8)]
        answers = [answer_of(server, connection) for connection in new]
        assert [answer[9:12] for answer in answers] == [b"200"] * 8
        assert [is_closed(connection) for connection in idle] == [True] * 8
