"""The wiring of the three processes: settings in, everything connected, running until told to stop."""

from __future__ import annotations

import logging
import signal
import threading
import time
from dataclasses import asdict, replace
from functools import partial
from types import FrameType

import structlog
from flask import Flask

from alert_api.adapters.alert_schema import alert_validator, command_validator
from alert_api.adapters.cases.overdue_cases import OverdueCases
from alert_api.adapters.cases.postgres_case_desk import PostgresCaseDesk
from alert_api.adapters.cases.postgres_cases import PostgresCases
from alert_api.adapters.engine_metrics import EngineMetrics
from alert_api.adapters.evidence.ed25519 import read_signer
from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.adapters.kafka_source import KafkaAlertSource
from alert_api.adapters.metrics import AlertRetentionMetrics, ProjectorMetrics, RetentionMetrics
from alert_api.adapters.newest_traces import NewestTraces
from alert_api.adapters.newest_transactions import NewestTransactions
from alert_api.adapters.performance.postgres_performance import PostgresPerformance
from alert_api.adapters.postgres_alert_events import PostgresAlertEvents
from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.adapters.postgres_commit_notifier import PostgresCommitNotifier
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.adapters.postgres_saved_views import PostgresSavedViews
from alert_api.adapters.postgres_sessions import PostgresSessions
from alert_api.adapters.prover.http_prover import HttpProver
from alert_api.adapters.rejected.postgres_rejected_records import PostgresRejectedRecords
from alert_api.adapters.retention.alert_files import AlertFiles
from alert_api.adapters.retention.postgres_counts import PostgresCounts
from alert_api.adapters.retention.postgres_dead_letters import PostgresDeadLetters
from alert_api.adapters.retention.postgres_partitions import PostgresPartitions
from alert_api.adapters.retention.postgres_past_partitions import PostgresPastPartitions
from alert_api.adapters.shadows.postgres_past_shadows import PostgresPastShadows
from alert_api.adapters.shadows.postgres_shadows import PostgresShadows
from alert_api.adapters.snoozes.postgres_snooze_desk import PostgresSnoozeDesk
from alert_api.adapters.snoozes.postgres_snoozes import PostgresSnoozes
from alert_api.adapters.upstream import Upstream
from alert_api.adapters.webhooks.postgres_webhooks import PostgresWebhooks
from alert_api.api.application import Cases, Doors, Stores, Streaming, build
from alert_api.api.console_data import Line
from alert_api.api.stream_seats import MAX_STREAMS
from alert_api.health_probes import health_desk
from alert_api.service.alert_months import AlertMonths
from alert_api.service.past_months import PastMonths
from alert_api.service.projector import Projector, Read
from alert_api.service.records import ReceivedAlert, Record, Unreadable, read_record
from alert_api.service.retention import Retention
from alert_api.service.sessions import SessionDesk
from alert_api.service.void_commands import VoidCommand, read_command
from alert_api.service.webhooks.webhook_desk import WebhookDesk, WebhookPolicy
from alert_api.settings import EVIDENCE_KEY, ApiSettings, ProjectorSettings, RetentionSettings
from tripline_contracts import topics
from tripline_contracts.event_type import EventType
from tripline_http.application import Access
from tripline_http.auth import install_rate_limit, install_stored_keys, install_tokens
from tripline_http.keys.postgres_key_store import PostgresKeyStore
from tripline_http.keys.watched_key_file import WatchedKeyFile
from tripline_http.metrics import new_metrics_registry
from tripline_http.metrics_server import MetricsServer, metrics_beside
from tripline_http.server import serve

log = structlog.get_logger(__name__)

THREADS = 16 + MAX_STREAMS
"""An open stream holds a thread; as many as before are left for everything else."""
CONNECTIONS = 8
ALERTS, SHADOWS, RULES = "alerts.v1", "shadow-alerts.v1", "rules.v1"


def wall_clock() -> int:
    """Now, in ms since the epoch."""
    return time.time_ns() // 1_000_000


def run_api(settings: ApiSettings) -> None:
    """Serve API and console until SIGTERM or SIGINT. Raises ConfigurationError."""
    keys = WatchedKeyFile(settings.keys_file)
    # One line per request of the console is written already; its own one to the registry says nothing new.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    stack: list[PostgresAlerts | PostgresCommitNotifier | Line] = []
    beside: list[MetricsServer | None] = []
    stopping = threading.Event()

    def load() -> Flask:
        pool = open_pool(settings.dsn, CONNECTIONS)
        alerts, notifier, line = PostgresAlerts(pool), PostgresCommitNotifier(settings.dsn), _line(settings)
        line = replace(line, health=health_desk(settings, alerts.check, line.transactions, wall_clock))
        stack.extend((alerts, notifier, line))
        metrics = new_metrics_registry()
        cases = PostgresCases(pool, settings.due)
        metrics.register(OverdueCases(cases, wall_clock))
        sessions = SessionDesk(PostgresSessions(pool), FernetSeal(), wall_clock)
        app = build(
            stores=Stores(
                alerts,
                PostgresAlertEvents(pool),
                Cases(
                    cases,
                    PostgresCaseDesk(pool, settings.due),
                    PostgresSnoozes(pool),
                    PostgresSnoozeDesk(pool, settings.snoozes),
                ),
                PostgresRejectedRecords(pool, topics.load("transactions.v1").name),
                PostgresPerformance(pool),
                PostgresSavedViews(pool),
                PostgresShadows(pool),
                webhook_desk(settings, PostgresWebhooks(pool)),
            ),
            line=line,
            doors=Doors(Access(keys, settings.hosts, metrics=settings.api_metrics_bind is None), sessions),
            registry=metrics,
            event_type=settings.event_type,
            clock=wall_clock,
            streaming=Streaming(stopping, notifier=notifier),
            signer=None
            if settings.evidence_key is None
            else read_signer(EVIDENCE_KEY, settings.evidence_key),
        ).app
        install_stored_keys(app, PostgresKeyStore(pool.connection, "alerts"))
        install_tokens(app, settings.issuer, metrics)
        install_rate_limit(app, settings.rate_limit)
        beside.append(metrics_beside(settings.api_metrics_bind, metrics))
        return app

    def stop() -> None:
        for server in filter(None, beside):
            server.stop()
        for part in stack:
            part.close()

    serve(load, settings.bind, threads=THREADS, on_stop=stop, on_stopping=stopping.set)


def _line(settings: ApiSettings) -> Line:
    engine, generator, kafka = settings.engine_metrics_url, settings.generator_url, settings.kafka
    return Line(
        registry=Upstream("The rules registry", settings.registry_url),
        engine=EngineMetrics(Upstream("The engine", engine)) if engine else None,
        generator=Upstream("The traffic generator", generator) if generator else None,
        transactions=NewestTransactions(kafka, topics.load("transactions.v1").name, settings.event_type)
        if kafka
        else None,
        prover=HttpProver(settings.prover.url, settings.prover.key) if settings.prover else None,
        traces=NewestTraces(kafka, topics.load("rule-traces.v1").name, settings.event_type)
        if kafka
        else None,
    )


def run_projector(settings: ProjectorSettings) -> None:
    """Carry alerts, and the commands that void what they rest on, from Kafka to Postgres until SIGTERM or SIGINT.

    Raises ConfigurationError.
    """
    stop = threading.Event()
    _stop_on_signals(stop)
    registry = new_metrics_registry()
    metrics = ProjectorMetrics(registry)
    names = [topics.load(name).name for name in (ALERTS, SHADOWS, RULES)]
    with (
        PostgresIntake(settings.dsn, settings.policy) as intake,
        KafkaAlertSource(settings.kafka, names, metrics.lag) as source,
        MetricsServer(settings.metrics_bind, registry, {"database": intake.check, "kafka": source.check}),
    ):
        log.info("projector_started", topics=names)
        Projector(source, intake, reader(RULES, settings.event_type, SHADOWS), metrics, stop).run()
    log.info("projector_stopped")


def run_retention(settings: RetentionSettings) -> None:
    """Delete dead letters and rejected records beyond the policy until SIGTERM or SIGINT. Raises ConfigurationError."""
    stop = threading.Event()
    _stop_on_signals(stop)
    registry = new_metrics_registry()
    unread, rejected = PostgresDeadLetters(settings.dsn), PostgresDeadLetters(settings.dsn, "rejected")
    kept = [
        (unread, RetentionMetrics(registry)),
        (rejected, RetentionMetrics(registry, "rejected_records")),
    ]
    with MetricsServer(settings.metrics_bind, registry, {"database": unread.check}):
        log.info("retention_started", policy=asdict(settings.policy), alerts=asdict(settings.alerts))
        archive = None if settings.alert_archive is None else AlertFiles(settings.alert_archive)
        past = PostgresPastPartitions(settings.dsn)
        upkeep = (
            AlertMonths(PostgresPartitions(settings.dsn), time.monotonic),
            PastMonths(past, archive, settings.alerts, AlertRetentionMetrics(registry), wall_clock),
            PostgresPastShadows(settings.dsn, wall_clock),
        )
        Retention(kept, PostgresCounts(settings.dsn), upkeep, settings.policy, stop).run()
    log.info("retention_stopped")


def reader(commands_topic: str, declared: EventType, shadows_topic: str = "") -> Read:
    """The parser of records: those of the one topic as commands, all others as alerts of the event type, of shadows
    where they come from the other."""
    is_event = command_validator(declared)
    of_shadows, of_rules = (alert_validator(declared, name) for name in (SHADOWS, ALERTS))
    amount_field = next(iter(declared.measures), None)

    def read(record: Record) -> ReceivedAlert | VoidCommand | Unreadable | None:
        if record.topic == commands_topic:
            return read_command(record, is_event)
        is_alert = of_shadows if record.topic == shadows_topic else of_rules
        return read_record(record, is_alert, declared.id_field.name, amount_field)

    return read


def webhook_desk(settings: ApiSettings, store: PostgresWebhooks) -> WebhookDesk | None:
    """None where the settings allow no webhooks."""
    webhooks = settings.webhooks
    if webhooks is None:
        return None
    policy = WebhookPolicy(webhooks.reach, settings.snoozes.four_eyes)
    return WebhookDesk(store, policy, partial(FernetSeal().seal, webhooks.key))


def _stop_on_signals(stop: threading.Event) -> None:
    def handle(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, handle)
    signal.signal(signal.SIGINT, handle)
