"""The OpenAPI document, written by the app itself and without a database."""

from __future__ import annotations

from prometheus_client import CollectorRegistry
from psycopg_pool import ConnectionPool

from alert_api.adapters.postgres_alerts import PostgresAlerts
from alert_api.adapters.registry import RegistryReader
from alert_api.api.application import build
from tripline_http.openapi import openapi_text


def document() -> str:
    """The text to keep under contracts/openapi; nothing is connected to."""
    pool: ConnectionPool = ConnectionPool("", min_size=0, max_size=1, open=False)
    rules = RegistryReader("http://127.0.0.1:8081")
    built = build(
        alerts=PostgresAlerts(pool), rules=rules, keys=(), registry=CollectorRegistry(), clock=lambda: 0
    )
    rules.close()
    return openapi_text(built.api)
