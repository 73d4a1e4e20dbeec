"""The OpenAPI document, written by the app itself and without a database."""

from __future__ import annotations

import threading

from prometheus_client import CollectorRegistry
from psycopg_pool import ConnectionPool

from alert_api.adapters.cases.postgres_case_desk import PostgresCaseDesk
from alert_api.adapters.cases.postgres_cases import PostgresCases
from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.adapters.performance.postgres_performance import PostgresPerformance
from alert_api.adapters.postgres_alert_events import PostgresAlertEvents
from alert_api.adapters.postgres_alerts import PostgresAlerts
from alert_api.adapters.postgres_saved_views import PostgresSavedViews
from alert_api.adapters.postgres_sessions import PostgresSessions
from alert_api.adapters.rejected.postgres_rejected_records import PostgresRejectedRecords
from alert_api.adapters.shadows.postgres_shadows import PostgresShadows
from alert_api.adapters.snoozes.postgres_snooze_desk import PostgresSnoozeDesk
from alert_api.adapters.snoozes.postgres_snoozes import PostgresSnoozes
from alert_api.adapters.upstream import Upstream
from alert_api.api.application import Cases, Doors, Stores, Streaming, build
from alert_api.api.console_data import Line
from alert_api.domain.cases.snooze_commands import SnoozePolicy
from alert_api.service.sessions import SessionDesk
from tripline_contracts import event_type_loader
from tripline_contracts.event_type import EventType
from tripline_http.application import Access
from tripline_http.openapi import openapi_text


def document(declared: EventType | None = None) -> str:
    """The text for the default event type, which is kept under contracts/openapi, or for another one.

    Nothing is connected to.
    """
    pool: ConnectionPool = ConnectionPool("", min_size=0, max_size=1, open=False)
    line = Line(Upstream("The rules registry", "http://127.0.0.1:8081"))
    built = build(
        stores=Stores(
            PostgresAlerts(pool),
            PostgresAlertEvents(pool),
            Cases(
                PostgresCases(pool),
                PostgresCaseDesk(pool),
                PostgresSnoozes(pool),
                PostgresSnoozeDesk(pool, SnoozePolicy()),
            ),
            PostgresRejectedRecords(pool, "transactions.v1"),
            PostgresPerformance(pool),
            PostgresSavedViews(pool),
            PostgresShadows(pool),
        ),
        line=line,
        doors=Doors(Access(), SessionDesk(PostgresSessions(pool), FernetSeal(), lambda: 0)),
        registry=CollectorRegistry(),
        event_type=declared or event_type_loader.load(),
        clock=lambda: 0,
        streaming=Streaming(threading.Event()),
    )
    line.close()
    return openapi_text(built.api)
