"""A process's small HTTP endpoint: /metrics, /livez, /readyz, and what else it answers."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from tripline_engine.errors import BadSettings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

CONNECTIONS: Final = 32
"""At once; one more takes the place of the oldest."""
CONNECTION_SECONDS: Final = 10.0
"""From its beginning to its end, however it trickles."""
_SEAT_SECONDS: Final = 1.0
"""A thread whose connection was hung up ends at once, unless it is in a probe."""

Check = Callable[[], str | None]
"""A probe: a sentence about the problem, or None."""


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    """A thread for each connection, and so few of them, for so long: whoever only connects keeps no probe out."""

    daemon_threads = True
    request_queue_size = 128
    """With the library's 5, a burst of connections costs others a second until theirs is tried again."""
    seconds = CONNECTION_SECONDS

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._seats = threading.BoundedSemaphore(CONNECTIONS)
        self._lock = threading.Lock()
        self._since: dict[socket.socket, float] = {}
        """Oldest first, without those that have been hung up."""
        super().__init__(*arguments, **named)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._seats.acquire(blocking=False):
            self._hang_up(1, time.monotonic())
            if not self._seats.acquire(timeout=_SEAT_SECONDS):
                self.shutdown_request(request)
                return
        with self._lock:
            self._since[request] = time.monotonic()
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread
            self._seats.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._seats.release()

    def service_actions(self) -> None:
        """Called twice a second, and after each connection."""
        self._hang_up(CONNECTIONS, time.monotonic() - self.seconds)

    def _hang_up(self, most: int, before: float) -> None:
        """The oldest of those that came before that time: their threads find an end of file."""
        with self._lock:
            oldest = [request for request, since in self._since.items() if since <= before][:most]
            for request in oldest:
                del self._since[request]
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RDWR)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._since.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a caller that is gone, or was hung up, is no news."""


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
        """A line per probe would bury the log."""


@contextmanager
def serving(
    host: str,
    port: int,
    registry: CollectorRegistry,
    live: Check,
    ready: Check,
    seconds: float = CONNECTION_SECONDS,
    others: WSGIApplication | None = None,
) -> Iterator[int]:
    """Serves in a thread while the block runs; yields the port.

    :param others: answers all other paths
    :raises BadSettings: if the address can't be bound
    """
    metrics = make_wsgi_app(registry)
    checks = {"/livez": live, "/readyz": ready}

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path == "/metrics":
            body: Iterable[bytes] = metrics(environ, start_response)
            return body
        if path not in checks and others is not None:
            return others(environ, start_response)
        if path not in checks:
            return _answer(start_response, "404 Not Found", "not found")
        problem = checks[path]()
        return _answer(start_response, "503 Service Unavailable" if problem else "200 OK", problem or "ok")

    try:
        server = make_server(host, port, application, server_class=_Server, handler_class=_QuietHandler)
    except OSError as error:
        raise BadSettings(
            f"TRIPLINE_METRICS_BIND: can't listen on {host}:{port}: {error.strerror}"
        ) from error
    server.seconds = seconds
    thread = threading.Thread(target=server.serve_forever, name="http", daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _answer(start_response: StartResponse, status: str, text: str) -> Iterable[bytes]:
    start_response(status, [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")])
    return [text.encode() + b"\n"]
