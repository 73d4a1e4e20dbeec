"""A receiver of webhooks in the test's own process: it answers what it is told to, and keeps what came."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

SLOW = 0
"""Instead of a status: no answer until the test is over."""


@dataclass(slots=True)
class Receiver:
    """`statuses` are answered one after the other, and 204 after them."""

    statuses: list[int] = field(default_factory=list)
    came: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for _, headers, _ in self.came]


class _Handler(BaseHTTPRequestHandler):
    receiver: ClassVar[Receiver]

    def do_POST(self) -> None:
        receiver = self.receiver
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        receiver.came.append((self.path, headers, body))
        status = receiver.statuses.pop(0) if receiver.statuses else 204
        if status == SLOW:
            receiver.over.wait(60)
            return
        self.send_response(status)
        if status in (301, 302, 307):
            self.send_header("location", f"http://127.0.0.1:{receiver.port}/elsewhere")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the parameter's own name
        pass


@contextmanager
def receiving(*statuses: int, tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A receiver on a port of its own."""
    receiver = Receiver(list(statuses))
    handler = type("Handler", (_Handler,), {"receiver": receiver})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        receiver.port = server.server_address[1]
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            receiver.over.set()
            server.shutdown()
            thread.join()
