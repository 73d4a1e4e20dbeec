"""Prometheus metrics of HTTP: their names, and the `/metrics` text."""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog
from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

log = structlog.get_logger(__name__)

REQUEST_SECONDS = "tripline_http_request_seconds"
_BUCKETS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_QUIET = frozenset({"/livez", "/readyz", "/metrics"})


def new_metrics_registry() -> CollectorRegistry:
    """A registry of this process, with its memory, CPU and files."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    return registry


def install_request_metrics(
    app: Flask, registry: CollectorRegistry, clock: Callable[[], float] = time.perf_counter
) -> None:
    """Measures every request by method, route and status, and writes one log line for each."""
    seconds = Histogram(
        REQUEST_SECONDS,
        "Time to answer a request",
        ["method", "route", "status"],
        buckets=_BUCKETS,
        registry=registry,
    )

    def begin() -> None:
        g.began_at = clock()

    def end(response: Response) -> Response:
        seconds_taken = clock() - g.get("began_at", clock())
        # The route's pattern, never the path: labels must stay few whatever callers send.
        route = request.url_rule.rule if request.url_rule else "none"
        method = request.method if request.method in _METHODS else "other"
        seconds.labels(method, route, str(response.status_code)).observe(seconds_taken)
        if request.path not in _QUIET:
            log.info(
                "request",
                method=request.method,
                path=request.path,
                status=response.status_code,
                milliseconds=round(seconds_taken * 1000, 2),
            )
        return response

    app.before_request(begin)
    app.after_request(end)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})


def install_metrics(app: Flask, registry: CollectorRegistry) -> None:
    """`/metrics`, open to whoever reaches the port: everything in the registry, in Prometheus' text format."""

    def metrics() -> Response:
        return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)

    app.add_url_rule("/metrics", "metrics", metrics, methods=["GET"])
