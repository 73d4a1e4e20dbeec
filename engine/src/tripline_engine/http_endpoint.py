"""A process's small HTTP endpoint: /metrics, /livez, /readyz."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from tripline_engine.errors import BadSettings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

Check = Callable[[], str | None]
"""A probe: a sentence about the problem, or None."""


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's name
        """A line per probe would bury the log."""


@contextmanager
def serving(host: str, port: int, registry: CollectorRegistry, live: Check, ready: Check) -> Iterator[int]:
    """Serves in a thread while the block runs; yields the port. Raises BadSettings if the address can't be bound."""
    metrics = make_wsgi_app(registry)
    checks = {"/livez": live, "/readyz": ready}

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path == "/metrics":
            body: Iterable[bytes] = metrics(environ, start_response)
            return body
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
