"""The Flask app of the alert API, put together from its parts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from flask import Flask
from flask.json.provider import DefaultJSONProvider
from prometheus_client import CollectorRegistry

from alert_api.api.alerts import Alerts, alerts_blueprint
from alert_api.api.cases.alert_commands import add_alert_commands
from alert_api.api.cases.case_answers import components as case_components
from alert_api.api.cases.case_commands import cases_blueprint
from alert_api.api.cases.case_graph import graph_components
from alert_api.api.console import console_blueprint
from alert_api.api.console_data import Line, console_data_blueprint
from alert_api.api.event_type import event_type_blueprint
from alert_api.api.evidence.evidence import EvidenceSigner, Sources, evidence_blueprint, evidence_schemas
from alert_api.api.health.health import line_health_blueprint
from alert_api.api.health.health_schemas import health_schemas
from alert_api.api.performance.performance import performance_blueprint
from alert_api.api.performance.performance_schemas import performance_schemas
from alert_api.api.problems import install_problems
from alert_api.api.proofs.explanation import explanation_blueprint
from alert_api.api.proofs.judgement import judgement_blueprint
from alert_api.api.proofs.proof_schemas import proof_schemas
from alert_api.api.proofs.verification import verification_blueprint
from alert_api.api.rejected_records import rejected_records_blueprint
from alert_api.api.rejected_schemas import rejected_components
from alert_api.api.schemas import components
from alert_api.api.session import session_blueprint
from alert_api.api.session_cookie import CookieSessions
from alert_api.api.shadows.shadow import shadow_blueprint, shadow_schemas
from alert_api.api.snoozes.snooze_gauges import SnoozeGauges
from alert_api.api.snoozes.snooze_schemas import components as snooze_components
from alert_api.api.snoozes.snoozes import Snoozes, snoozes_blueprint
from alert_api.api.stream import stream_blueprint
from alert_api.api.stream_seats import MAX_STREAMS, StreamSeats
from alert_api.api.summary import summary_blueprint
from alert_api.api.traces import traces_blueprint
from alert_api.api.views.saved_views import saved_views_blueprint, view_schemas
from alert_api.api.webhooks.webhook_schemas import webhook_components
from alert_api.api.webhooks.webhooks import webhooks_blueprint
from alert_api.service.alert_counts import AlertCounter
from alert_api.service.alert_stream import AlertEvents, CommitNotifier, StreamTiming
from alert_api.service.cases.case_queries import CaseReader
from alert_api.service.cases.case_work import CaseDesk
from alert_api.service.health.health_desk import HealthDesk
from alert_api.service.performance.rule_performance import PerformanceReader
from alert_api.service.rejected.desk import RejectedDesk, RejectedRecords
from alert_api.service.saved_views import SavedViews
from alert_api.service.sessions import SessionDesk
from alert_api.service.shadows.shadow_comparison import ShadowReader
from alert_api.service.snoozes.snooze_queries import SnoozeReader
from alert_api.service.snoozes.snooze_work import SnoozeDesk
from alert_api.service.webhooks.webhook_desk import WebhookDesk
from tripline_contracts import schemas
from tripline_contracts.event_type import EventType
from tripline_http.application import Access, new_app
from tripline_http.auth import install_sessions
from tripline_http.openapi import Api, ApiBlueprint, install_api


class Overview(AlertEvents, AlertCounter, Protocol):
    """The ports that read many alerts at once."""


@dataclass(frozen=True, slots=True)
class Cases:
    """Where cases and snoozes are read, and where work on them is taken in."""

    reader: CaseReader
    desk: CaseDesk
    snoozes: SnoozeReader
    snooze_desk: SnoozeDesk


@dataclass(frozen=True, slots=True)
class Stores:
    """What is in the database: alerts one by one, many of them, cases, what the engine did not accept, and what rules
    are worth, the views that people saved, and what shadows gave."""

    alerts: Alerts
    overview: Overview
    cases: Cases
    rejected: RejectedRecords
    performance: PerformanceReader
    views: SavedViews
    shadows: ShadowReader
    webhooks: WebhookDesk | None = None


@dataclass(frozen=True, slots=True)
class Streaming:
    """Options of alert streams: until `stopped`, at most `slots` at a time, without delay if there is a `notifier`."""

    stopped: threading.Event
    timing: StreamTiming = field(default_factory=StreamTiming)
    slots: int = MAX_STREAMS
    notifier: CommitNotifier | None = None


@dataclass(frozen=True, slots=True)
class Doors:
    """Who is let in, and how: keys and names, and sessions of the console."""

    access: Access
    sessions: SessionDesk


@dataclass(frozen=True, slots=True)
class AlertApi:
    """The app to serve, and the API to write down."""

    app: Flask
    api: Api


class _AsWritten(DefaultJSONProvider):
    """Members in the order they were put in: an alert reads from what matters to detail."""

    sort_keys = False


def build(
    *,
    stores: Stores,
    line: Line,
    doors: Doors,
    registry: CollectorRegistry,
    event_type: EventType,
    clock: Callable[[], int],
    streaming: Streaming,
    signer: EvidenceSigner | None = None,
) -> AlertApi:
    """The whole app; `clock` gives ms since the epoch, `signer` signs evidence."""
    alerts, overview = stores.alerts, stores.overview
    app = new_app("alert-api", access=doors.access, registry=registry, checks={"database": alerts.check})
    app.json = _AsWritten(app)
    api = install_api(
        app,
        title="Tripline alert API",
        version="1.0.0",
        description="Alerts as the engine raised them, and who takes care of each.",
    )
    for name, schema in _components(event_type).items():
        api.spec.components.schema(name, schema)
    install_problems(app)
    install_sessions(app, CookieSessions(doors.sessions))
    api.register_blueprint(_case_views(stores, clock, event_type))
    registry.register(SnoozeGauges(stores.cases.snoozes, clock))
    snoozes = Snoozes(stores.cases.snoozes, stores.cases.snooze_desk, clock)
    api.register_blueprint(snoozes_blueprint(snoozes, event_type))
    api.register_blueprint(webhooks_blueprint(stores.webhooks, clock, event_type))
    seats = StreamSeats(streaming.slots, registry)
    api.register_blueprint(alerts_blueprint(alerts, clock, event_type))
    api.register_blueprint(
        stream_blueprint(overview, seats, streaming.stopped, streaming.timing, streaming.notifier)
    )
    api.register_blueprint(summary_blueprint(overview, clock, event_type))
    api.register_blueprint(performance_blueprint(stores.performance, clock))
    api.register_blueprint(shadow_blueprint(stores.shadows, clock))
    api.register_blueprint(saved_views_blueprint(stores.views, clock, event_type))
    api.register_blueprint(line_health_blueprint(line.health or HealthDesk({}, clock)))
    api.register_blueprint(traces_blueprint(line.traces))
    api.register_blueprint(verification_blueprint(alerts, line.prover, clock))
    desk = RejectedDesk(stores.rejected, schemas.validator("transactions.v1", event_type), clock)
    api.register_blueprint(rejected_records_blueprint(desk))
    api.register_blueprint(explanation_blueprint(alerts, line.prover, line.registry, event_type))
    api.register_blueprint(judgement_blueprint(line.prover, stores.cases.snoozes))
    sources = Sources(alerts, stores.cases.reader, line.prover, line.registry)
    api.register_blueprint(evidence_blueprint(sources, signer, event_type, clock))
    api.register_blueprint(event_type_blueprint(event_type))
    api.register_blueprint(session_blueprint(doors.sessions))
    app.register_blueprint(console_blueprint(event_type))
    app.register_blueprint(console_data_blueprint(line))
    return AlertApi(app, api)


def _case_views(stores: Stores, clock: Callable[[], int], event_type: EventType) -> ApiBlueprint:
    """Cases, and the work on single alerts that is work on them."""
    reader, desk = stores.cases.reader, stores.cases.desk
    views = cases_blueprint(reader, desk, clock, event_type)
    add_alert_commands(views, stores.alerts, reader, desk, clock)
    return views


def _components(event_type: EventType) -> dict[str, dict[str, Any]]:
    """The schemas by their names in the OpenAPI document."""
    return {
        **components(event_type),
        **case_components(event_type),
        **snooze_components(event_type),
        **rejected_components(),
        **proof_schemas(),
        **evidence_schemas(),
        **performance_schemas(),
        **shadow_schemas(),
        **health_schemas(),
        **graph_components(),
        **view_schemas(),
        **webhook_components(),
    }
