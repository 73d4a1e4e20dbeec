"""`/livez`, `/readyz` and `/metrics` of processes that have no API, or whose API others can reach: a small server on a
thread.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self

from prometheus_client import CollectorRegistry

from tripline_http.application import Access, new_app
from tripline_http.bind_address import METRICS_BIND, Bind
from tripline_http.errors import ConfigurationError
from tripline_http.health import ReadinessCheck
from tripline_http.metrics import install_metrics
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
        variable: str = "TRIPLINE_METRICS_BIND",
    ) -> None:
        # The requests for metrics are counted apart: those of an API have the same names.
        anybody, its_own = Access(hosts=None, metrics=False), CollectorRegistry()
        app = new_app(
            "tripline-metrics", access=anybody, registry=its_own, checks=checks, max_body_bytes=1024
        )
        install_metrics(app, registry)
        try:
            self._server = Server(app, bind, _THREADS, limits)
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"{variable} {bind} cannot be listened on.") from error
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


def metrics_beside(bind: Bind | None, registry: CollectorRegistry) -> MetricsServer | None:
    """Begins to serve an API's metrics on a port of their own (`parse_metrics_bind`); None where on its own.

    Raises ConfigurationError.
    """
    if bind is None:
        return None
    server = MetricsServer(bind, registry, {}, variable=METRICS_BIND)
    server.start()
    return server
