"""The OpenAPI document, without a database."""

from __future__ import annotations

from prometheus_client import CollectorRegistry
from psycopg_pool import ConnectionPool

from rules_registry.adapters.postgres import Connection
from rules_registry.api.application import create_app
from tripline_contracts import event_type_loader
from tripline_contracts.event_type import EventType
from tripline_http.application import Access
from tripline_http.openapi import openapi_text


def openapi_document(declared: EventType | None = None) -> str:
    """The text for the default event type, which is committed under contracts/openapi, or for another one."""
    pool = ConnectionPool("", connection_class=Connection, open=False)
    _, api = create_app(pool, Access(), CollectorRegistry(), declared or event_type_loader.load())
    return openapi_text(api)
