"""The OpenAPI document, written by the app itself and without a database."""

from __future__ import annotations

import threading

from prometheus_client import CollectorRegistry
from psycopg_pool import ConnectionPool

from alert_api.adapters.postgres_alerts import PostgresAlerts
from alert_api.adapters.postgres_happenings import PostgresHappenings
from alert_api.adapters.upstream import Upstream
from alert_api.api.application import Streaming, build
from alert_api.api.console_data import Line
from tripline_http.openapi import openapi_text


def document() -> str:
    """The text to keep under contracts/openapi; nothing is connected to."""
    pool: ConnectionPool = ConnectionPool("", min_size=0, max_size=1, open=False)
    line = Line(Upstream("The rules registry", "http://127.0.0.1:8081"))
    built = build(
        alerts=PostgresAlerts(pool),
        overview=PostgresHappenings(pool),
        line=line,
        keys=(),
        registry=CollectorRegistry(),
        clock=lambda: 0,
        streaming=Streaming(threading.Event()),
    )
    line.close()
    return openapi_text(built.api)
