"""`/livez`, `/readyz` and `/metrics` for processes that have no API: a small server on a thread."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from prometheus_client import CollectorRegistry
from werkzeug.serving import WSGIRequestHandler, make_server

from tripline_http.application import new_app
from tripline_http.bind_address import Bind
from tripline_http.errors import ConfigurationError
from tripline_http.health import ReadinessCheck


class _SilentHandler(WSGIRequestHandler):
    def log(self, type: str, message: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Nothing: scrapes are no news."""


class MetricsServer:
    """Listens from construction, serves from `start` (or `with`) until `stop`. `port` is the real one."""

    def __init__(self, bind: Bind, registry: CollectorRegistry, checks: Mapping[str, ReadinessCheck]) -> None:
        app = new_app("tripline-metrics", keys=(), registry=registry, checks=checks, max_body_bytes=1024)
        try:
            self._server = make_server(
                bind.host, bind.port, app, threaded=True, request_handler=_SilentHandler
            )
        except (OSError, SystemExit) as error:
            raise ConfigurationError(f"TRIPLINE_METRICS_BIND {bind} cannot be listened on.") from error
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)

    def start(self) -> None:
        """Begins to answer."""
        self._thread.start()

    def stop(self) -> None:
        """Ends, and frees the port."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
