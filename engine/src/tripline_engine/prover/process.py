"""The prover process: probes, signals, and its HTTP API until SIGTERM."""

from __future__ import annotations

import logging
import os
import signal
import threading
from typing import Final

import structlog
from prometheus_client import CollectorRegistry

from tripline_engine.archive.journal import Journal
from tripline_engine.errors import EngineError
from tripline_engine.http_endpoint import serving
from tripline_engine.prover.backtest_desk import BacktestDesk
from tripline_engine.prover.backtest_job import BacktestJob
from tripline_engine.prover.prover import Prover
from tripline_engine.prover.server import ProverApplication
from tripline_engine.prover.settings import ProverSettings
from tripline_engine.rebuild.journals import journals
from tripline_engine.topic_names import ORDER

_log = structlog.get_logger(__name__)
_NICE: Final = 10
"""A proof can wait; what it is about must not."""
_REPLY_SECONDS: Final = 30.0


def run(settings: ProverSettings) -> None:
    """Returns after SIGTERM or SIGINT. Raises EngineError with one sentence for everything else."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    os.nice(_NICE)
    # what the engine has refused it has said; each proof would say it again
    logging.getLogger("tripline_engine.domain").setLevel(logging.ERROR)
    desk = BacktestDesk(lambda asked: BacktestJob(asked, settings.backtest_seconds))
    application = ProverApplication(
        Prover(settings, lambda: journals(settings, settings.event_type)), settings.key, desk
    )
    with serving(
        settings.host,
        settings.port,
        CollectorRegistry(),
        lambda: None,
        lambda: not_ready(settings),
        seconds=settings.seconds + _REPLY_SECONDS,
        others=application,
    ) as port:
        _log.info("starting", archive=str(settings.archive), http_port=port)
        stop.wait()
        desk.close()
    _log.info("stopped")


def not_ready(settings: ProverSettings) -> str | None:
    """Ready while Kafka says what it has of the recorded order."""
    try:
        with journals(settings, settings.event_type) as by_topic:
            order: Journal = by_topic[ORDER]
            return None if order.topic.partitions() else f"there is no topic {order.topic.name}"
    except EngineError as error:
        return str(error)
