"""`/livez`, `/readyz` and `/metrics` for processes that have no API: a small server on a thread."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from prometheus_client import CollectorRegistry

from tripline_http.application import Access, new_app
from tripline_http.bind_address import Bind
from tripline_http.errors import ConfigurationError
from tripline_http.health import ReadinessCheck
from tripline_http.server import Limits, Server

LIMITS: Final = Limits(
    connections=32,
    connections_of_an_address=32,
    head_seconds=10,
    request_seconds=10,
    idle_seconds=10,
    grace_seconds=1,
    request_bytes=4096,
)
"""For one scraper and some probes; whoever else connects holds no thread, and soon no socket."""
_THREADS: Final = 2
"""One for scrapes, one to spare; `/livez` and `/readyz` have theirs."""


class MetricsServer:
    """Listens from construction, serves from `start` (or `with`) until `stop`. `port` is the real one."""

    def __init__(
        self,
        bind: Bind,
        registry: CollectorRegistry,
        checks: Mapping[str, ReadinessCheck],
        limits: Limits = LIMITS,
    ) -> None:
        anybody = Access(hosts=None)
        app = new_app(
            "tripline-metrics", access=anybody, registry=registry, checks=checks, max_body_bytes=1024
        )
        try:
            self._server = Server(app, bind, _THREADS, limits)
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"TRIPLINE_METRICS_BIND {bind} cannot be listened on.") from error
        self.port = int(self._server.effective_port)
        self._thread = threading.Thread(target=self._server.run, name="metrics", daemon=True)

    def start(self) -> None:
        """Begins to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Ends, and frees the port."""
        self._server.stop()
        self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
