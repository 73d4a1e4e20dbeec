"""The OpenAPI document, without a database."""

from __future__ import annotations

from prometheus_client import CollectorRegistry
from psycopg_pool import ConnectionPool

from rules_registry.adapters.postgres import Connection
from rules_registry.api.application import create_app
from tripline_http.openapi import openapi_text


def openapi_document() -> str:
    """The text that is committed under contracts/openapi."""
    pool = ConnectionPool("", connection_class=Connection, open=False)
    _, api = create_app(pool, (), CollectorRegistry())
    return openapi_text(api)
