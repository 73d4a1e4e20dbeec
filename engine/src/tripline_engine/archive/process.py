"""The archiver process: lock, probes, signals, and the loop."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import structlog

from tripline_contracts.event_type import EventType
from tripline_engine.archive.archiver import Archiver, stores
from tripline_engine.archive.metrics import Metrics
from tripline_engine.archive.settings import ArchiverSettings
from tripline_engine.domain.memory.file_lock import file_lock
from tripline_engine.errors import ArchiveFailed, ArchiveInUse
from tripline_engine.http_endpoint import serving
from tripline_engine.topic_names import TRANSACTIONS

_log = structlog.get_logger(__name__)
_LOCK: Final = "archiver.lock"
_STALE_SECONDS: Final = 120.0
_NICE: Final = 5
"""A third of the engine's share of a contended core; without it, archiving a backlog took as much as judging it."""


def run(settings: ArchiverSettings, event_type: EventType) -> None:
    """Returns after SIGTERM or SIGINT. Raises EngineError with one sentence for everything else."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    os.nice(_NICE)
    folder = stores(settings, event_type)[settings.topic(TRANSACTIONS)].folder
    try:
        with exclusive(folder):
            metrics = Metrics()
            archiver = Archiver(settings, event_type, metrics, time.monotonic)
            probes = Probes(archiver)
            where = (settings.metrics_host, settings.metrics_port)
            with serving(*where, metrics.registry, probes.dead, probes.not_ready) as port:
                _log.info("starting", archive=str(settings.archive), http_port=port)
                archiver.run(stop)
    except OSError as error:
        raise ArchiveFailed(f"{error.filename or settings.archive}: {error.strerror or error}") from error
    _log.info("stopped")


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the archive of one deployment for this process. Raises ArchiveInUse if another one has it."""
    with file_lock(folder / _LOCK) as held:
        if not held:
            raise ArchiveInUse(f"{folder}: another archiver is writing there")
        yield


class Probes:
    """Liveness and readiness probes (`/livez`, `/readyz`)."""

    def __init__(self, archiver: Archiver) -> None:
        self._archiver = archiver

    def dead(self) -> str | None:
        """Dead after two minutes without an iteration of the loop."""
        quiet = time.monotonic() - self._archiver.beat
        return f"the loop has not come round for {quiet:.0f} s" if quiet > _STALE_SECONDS else None

    def not_ready(self) -> str | None:
        """Ready while Kafka lists the partitions, and all are assigned."""
        return self.dead() if self._archiver.reading else "Kafka does not say what there is"
