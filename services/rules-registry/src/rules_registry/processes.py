"""The three processes, and the one command, put together."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rules_registry.adapters.named.named_queries import NamedQueries
from rules_registry.adapters.outbox import open_outbox
from rules_registry.adapters.postgres import Pool, open_pool
from rules_registry.adapters.publisher import open_publisher
from rules_registry.adapters.rules_reader import open_rules_reader
from rules_registry.adapters.rules_topic import open_rules_topic
from rules_registry.adapters.status_source import open_status_source
from rules_registry.adapters.status_store import open_status_store
from rules_registry.domain.named.csv_entries import MAX_IMPORT_BYTES
from rules_registry.service.list_expiry import ListExpiry
from rules_registry.service.log_watch import LogWatch
from rules_registry.service.relay import Relay
from rules_registry.service.relay_metrics import relay_metrics
from rules_registry.service.republisher import republish
from rules_registry.service.status_projector import StatusProjector
from rules_registry.settings import ApiSettings, ProjectorSettings, RelaySettings
from tripline_http.auth import install_rate_limit, install_stored_keys, install_tokens
from tripline_http.keys.postgres_key_store import PostgresKeyStore
from tripline_http.keys.watched_key_file import WatchedKeyFile
from tripline_http.lifecycle import stop_on_signals
from tripline_http.logs import configure_logs
from tripline_http.metrics import new_metrics_registry
from tripline_http.metrics_server import MetricsServer, metrics_beside
from tripline_http.server import LIMITS, serve

if TYPE_CHECKING:
    from flask import Flask

    from rules_registry.prover_address import ProverAddress

_LIMITS: Final = replace(LIMITS, request_bytes=MAX_IMPORT_BYTES)


def run_api(settings: ApiSettings) -> None:
    """Serves until SIGTERM."""

    from rules_registry.api.application import create_app  # noqa: PLC0415
    from rules_registry.api.services import registry_of  # noqa: PLC0415
    from tripline_http.application import Access  # noqa: PLC0415

    configure_logs(settings.log_level, "rules-registry")
    keys = WatchedKeyFile(settings.api_keys_file)
    pools: list[Pool] = []
    beside: list[MetricsServer | None] = []
    stopping = threading.Event()

    def load() -> Flask:
        # In the worker: the pool's connections and threads would not survive the fork.
        pools.append(open_pool(settings.dsn, size=settings.threads))
        metrics = new_metrics_registry()
        app, _ = create_app(
            pools[0],
            Access(keys, settings.hosts, metrics=settings.api_metrics_bind is None),
            metrics,
            settings.event_type,
            settings.quotas,
            four_eyes=settings.four_eyes,
            bounds=settings.backtests,
            estimates=settings.estimates,
        )
        expiry = ListExpiry(registry_of(app), NamedQueries(pools[0]), stopping)
        threading.Thread(target=expiry.run, name="list-expiry", daemon=True).start()
        if settings.prover is not None:
            _start_backtests(app, pools[0], settings, settings.prover, stopping)
        install_stored_keys(app, PostgresKeyStore(pools[0].connection, "registry"))
        install_tokens(app, settings.issuer, metrics)
        install_rate_limit(app, settings.rate_limit)
        beside.append(metrics_beside(settings.api_metrics_bind, metrics))
        return app

    def stop() -> None:
        stopping.set()
        for server in filter(None, beside):
            server.stop()
        for pool in pools:
            pool.close()

    serve(load, settings.bind, threads=settings.threads, on_stop=stop, limits=_LIMITS)


def _start_backtests(
    app: Flask, pool: Pool, settings: ApiSettings, prover: ProverAddress, stopping: threading.Event
) -> None:
    # Here and not above: the other processes need no HTTP client.
    from rules_registry.adapters.backtests.backtest_store import BacktestTurns  # noqa: PLC0415
    from rules_registry.adapters.backtests.http_runner import HttpRunner  # noqa: PLC0415
    from rules_registry.api.services import backtests_of, registry_of  # noqa: PLC0415
    from rules_registry.service.backtests.backtest_desk import BacktestDesk  # noqa: PLC0415
    from rules_registry.service.backtests.estimate_desk import EstimateDesk  # noqa: PLC0415

    runner, turns = HttpRunner(prover.url, prover.key), BacktestTurns(pool, settings.event_type)
    registry = registry_of(app)
    estimates = EstimateDesk(settings.estimates, runner, registry.clock, registry.new_id)
    desk = BacktestDesk(backtests_of(app), turns, runner, registry.clock, stopping, estimates)
    threading.Thread(target=desk.run, name="backtests", daemon=True).start()


def run_relay(settings: RelaySettings) -> None:
    """Delivers until SIGTERM."""
    configure_logs(settings.log_level, "rules-registry-relay")
    stop, registry = stop_on_signals(), new_metrics_registry()
    relay = Relay(
        lambda: open_outbox(settings.dsn),
        lambda: open_publisher(settings.kafka),
        relay_metrics(registry),
        stop,
    )
    watch = LogWatch(
        lambda: open_outbox(settings.dsn), lambda: open_rules_reader(settings.kafka), registry, stop
    )
    watching = threading.Thread(target=watch.run, name="log-watch", daemon=True)
    with MetricsServer(settings.metrics_bind, registry, {"relay": relay.check, "rules": watch.check}):
        watching.start()
        relay.run()
        watching.join(timeout=5)


def run_republish(settings: RelaySettings, since: int | None) -> int:
    """Writes the rules topic anew, or again from position `since` on; the number of events.

    Raises what `republish` raises.
    """
    configure_logs(settings.log_level, "rules-registry-republish")
    with (
        open_outbox(settings.dsn) as outbox,
        open_rules_topic(settings.kafka) as topic,
        open_publisher(settings.kafka) as publisher,
    ):
        return republish(outbox, topic, publisher, since)


def run_status_projector(settings: ProjectorSettings) -> None:
    """Projects until SIGTERM."""
    configure_logs(settings.log_level, "rules-registry-status-projector")
    stop, registry = stop_on_signals(), new_metrics_registry()
    projector = StatusProjector(
        lambda: open_status_source(settings.kafka, settings.consumer_group),
        lambda: open_status_store(settings.dsn),
        registry,
        stop,
    )
    with MetricsServer(settings.metrics_bind, registry, {"projector": projector.check}):
        projector.run()
