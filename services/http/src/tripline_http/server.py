"""waitress, started from Python: one process, one loop for sockets, threads for requests.

The loop takes whole requests before a thread sees one: a socket that is idle, or whose head or body trickles, holds no
thread. Where connections are as many as there may be, a new one closes the one that has been waiting the longest. One
process, because metrics and pools are the process's; more throughput is more processes behind a balancer.
"""

from __future__ import annotations

import json
import logging
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Final

from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, ThreadedTaskDispatcher

from tripline_http.bind_address import Bind
from tripline_http.errors import ConfigurationError
from tripline_http.problems import PROBLEM_TYPE

STALLED_SECONDS: Final = 5.0
"""A reader who takes nothing for so long makes room for others; sooner, it may be the network."""
_HEAD_BYTES: Final = 32 * 1024
_CLOSING_SECONDS: Final = 1.0
"""Between two looks at what is overdue."""
_OWN_THREADS: Final = ("/livez", "/readyz")
"""Answered even where every other thread is busy."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Limits:
    """What connections may take, in number and in time."""

    connections: int = 500
    connections_of_an_address: int = 100
    """All users of a machine share its loopback address, and everyone behind a proxy the proxy's."""
    head_seconds: float = 10.0
    """From a request's first byte to the end of its head."""
    request_seconds: float = 30.0
    """From a request's first byte to its last, however it trickles; and for a reader that takes nothing."""
    idle_seconds: float = 15.0
    grace_seconds: float = 10.0
    """For running requests, once the server is asked to stop."""
    request_bytes: int = 9 * 1024 * 1024
    """More than any endpoint takes; they refuse with a problem of their own what is too much for them."""


LIMITS: Final = Limits()


class _Parser(HTTPRequestParser):  # type: ignore[misc]
    """Refuses with 400 what waitress raises for, and a length beside chunks: two readers may frame that differently."""

    path = ""
    """Of a head that cannot be read."""

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ValueError as error:
            raise ParsingError("Bad address") from error
        if self.chunked and "CONTENT_LENGTH" in self.headers:
            raise ParsingError("Content-Length beside Transfer-Encoding")


class _Refusal(ErrorTask):  # type: ignore[misc]
    """What the server says before there is a request: a problem, as everything else that is refused."""

    def execute(self) -> None:
        error = self.request.error
        problem = {
            "type": "about:blank",
            "title": error.reason,
            "status": error.code,
            "detail": str(error.body),
        }
        body = json.dumps(problem).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers += [
            ("Content-Type", PROBLEM_TYPE),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
        ]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class _Channel(HTTPChannel):  # type: ignore[misc]
    """A connection that knows since when its request has been coming."""

    parser_class = _Parser
    error_task_class = _Refusal
    begun: float | None = None

    def received(self, data: bytes) -> bool:
        if self.request is None:
            self.begun = time.time()
        taken: bool = super().received(data)
        if self.request is None:
            self.begun = None
        return taken

    def is_overdue(self, now: float) -> bool:
        """Whether its request takes too long to come, or its answer to be taken."""
        limits: Limits = self.server.limits
        if self.request is not None and self.begun is not None:
            limit = limits.request_seconds if self.request.headers_finished else limits.head_seconds
            if now - self.begun > limit:
                return True
        if self.total_outbufs_len:
            return bool(now - self.last_activity > limits.request_seconds)
        return not self.requests and bool(now - self.last_activity > limits.idle_seconds)

    def waiting_since(self, now: float) -> float | None:
        """Since when it has been idle, unfinished, or read by nobody; None for one that may not be closed for another.

        `requests` is read first: a thread takes its request away only after it has handed over the answer.
        """
        in_work = bool(self.requests)
        if self.total_outbufs_len:
            return self.last_activity if now - self.last_activity > STALLED_SECONDS else None
        if in_work:
            return None
        begun = self.begun if self.request is not None else None
        # a head that trickles is as old as its first byte
        return self.last_activity if begun is None else begun


class Server(TcpWSGIServer):  # type: ignore[misc]
    """Listens from construction. Raises OSError or ValueError for an address that cannot be listened on."""

    channel_class = _Channel
    stopping_at: float | None = None
    closing_at = 0.0

    def __init__(self, app: Flask, bind: Bind, threads: int, limits: Limits = LIMITS) -> None:
        # a line for each request that waits for a thread says nothing that the metrics do not
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)
        self.limits = limits
        self._own = {path: ThreadedTaskDispatcher() for path in _OWN_THREADS}
        sockets: dict[int, wasyncore.dispatcher] = {}
        try:
            super().__init__(
                app,
                map=sockets,
                dispatcher=ThreadedTaskDispatcher(),
                listen=f"{bind.host}:{bind.port}",
                threads=threads,
                # never reached, as `_has_room_for` comes first: waitress would leave all callers waiting, probes too
                connection_limit=2 * limits.connections + 16,
                max_request_header_size=_HEAD_BYTES,
                max_request_body_size=limits.request_bytes,
                # reads on while a request is answered, and so learns of a caller that is gone
                channel_request_lookahead=1,
                clear_untrusted_proxy_headers=True,
                asyncore_use_poll=True,
                ident=None,
            )
        except OSError:
            wasyncore.close_all(sockets, ignore_all=True)
            raise
        self.task_dispatcher.set_thread_count(threads)
        for dispatcher in self._own.values():
            dispatcher.set_thread_count(1)

    def add_task(self, task: _Channel) -> None:
        dispatcher: ThreadedTaskDispatcher = self._own.get(task.requests[0].path) or self.task_dispatcher
        dispatcher.add_task(task)

    def handle_accept(self) -> None:
        try:
            accepted = self.accept()
            if accepted is None:
                return
            connection, address = accepted
            self.set_socket_options(connection)
        except OSError:
            return
        if not self._has_room_for(address[0]):
            connection.close()
            return
        _Channel(self, connection, self.fix_addr(address), self.adj, map=self._map)

    def _has_room_for(self, host: str) -> bool:
        """Whether one more of that address may stay; where all seats are taken, one that only waits loses its own."""
        everyone = list(self.active_channels.values())
        crowd = [channel for channel in everyone if channel.addr[0] == host]
        if len(crowd) < self.limits.connections_of_an_address:
            if len(everyone) < self.limits.connections:
                return True
            crowd = everyone
        now = time.time()
        waiting = [(since, channel) for channel in crowd if (since := channel.waiting_since(now)) is not None]
        if not waiting:
            return False
        _, oldest = min(waiting, key=lambda entry: entry[0])
        oldest.handle_close()
        return True

    def maintenance(self, now: float) -> None:
        """Nothing: it is called in the middle of a turn, see `turn`."""

    def stop(self) -> None:
        """Take no more connections, and end once those that are answered now are done."""
        self.stopping_at = self.stopping_at or time.monotonic()
        self.pull_trigger()

    def run(self) -> None:
        """Serve until `stop`, and a little longer."""
        while self.stopping_at is None:
            self.turn()
        self.accepting = False
        self.socket.close()
        self.del_channel()
        while self._is_busy() and time.monotonic() - self.stopping_at < self.limits.grace_seconds:
            self.turn(0.1)
        for dispatcher in (self.task_dispatcher, *self._own.values()):
            dispatcher.shutdown(timeout=1)
        wasyncore.close_all(self._map, ignore_all=True)

    def turn(self, seconds: float = 1.0) -> None:
        """Closes what is overdue, and handles what comes within so long.

        Not the other way round, and not in between, where waitress would: a turn remembers connections by the numbers
        of their files, and one that is accepted in it may have got the number of one that was closed in it.
        """
        now = time.time()
        if now >= self.closing_at:
            self.closing_at = now + _CLOSING_SECONDS
            for channel in list(self.active_channels.values()):
                if channel.is_overdue(now):
                    channel.handle_close()
        wasyncore.loop(timeout=seconds, map=self._map, use_poll=True, count=1)

    def _is_busy(self) -> bool:
        return any(channel.requests or channel.total_outbufs_len for channel in self.active_channels.values())


def serve(
    load: Callable[[], Flask],
    bind: Bind,
    *,
    threads: int = 16,
    on_stop: Callable[[], None] | None = None,
    on_stopping: Callable[[], None] | None = None,
    limits: Limits = LIMITS,
) -> None:
    """Serves until SIGTERM or SIGINT, which lets running requests end (10 s).

    `on_stop` is called when it ends, `on_stopping` as soon as it is asked to: answers without an end of their own
    should end then. Raises ConfigurationError where the address cannot be listened on.
    """
    try:
        server = Server(load(), bind, threads, limits)
    except OSError as error:
        if on_stop is not None:
            on_stop()
        raise ConfigurationError(
            f"TRIPLINE_HTTP_BIND {bind} cannot be listened on: {error.strerror}."
        ) from error

    def stop(_number: int, _frame: FrameType | None) -> None:
        if on_stopping is not None:
            on_stopping()
        server.stop()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    _log.info("listening on %s", bind)
    try:
        server.run()
    finally:
        if on_stop is not None:
            on_stop()
