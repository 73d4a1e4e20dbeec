"""The archiver as a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.support.engine_process import metric_sum
from tests.e2e.support.waiting import eventually
from tripline_demo.processes import leash, ports
from tripline_demo.stack.checks import http_ready

ARCHIVER = str(Path(sys.executable).with_name("tripline-archiver"))


@dataclass(frozen=True, slots=True)
class RunningArchiver:
    """`tripline-archiver`, on a leash."""

    process: leash.Leashed
    port: int

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels, as it stands."""
        return metric_sum(self.port, name)


def settings_of(kafka: str, archive: Path, prefix: str) -> dict[str, str]:
    """What every archiver has to be told."""
    return {"TRIPLINE_KAFKA": kafka, "TRIPLINE_ARCHIVE": str(archive), "TRIPLINE_TOPIC_PREFIX": prefix}


@contextmanager
def running_archiver(kafka: str, archive: Path, prefix: str, **settings: str) -> Iterator[RunningArchiver]:
    """Ready, and stopped at the end if it still runs: what it has read is written then."""
    (port,) = ports.free_ports(1)
    environment = {
        **settings_of(kafka, archive, prefix),
        "TRIPLINE_METRICS_BIND": f"127.0.0.1:{port}",
        "TRIPLINE_ARCHIVE_FLUSH_SECONDS": "1",
        **settings,
    }
    archive.parent.mkdir(parents=True, exist_ok=True)
    log = archive.parent / "archiver.log"
    archiver = RunningArchiver(leash.start([ARCHIVER], log=log, environment=environment), port)
    try:
        ready = http_ready(port)
        eventually(lambda: ready() or not archiver.process.is_running(), "the archiver is ready")
        assert archiver.process.is_running(), archiver.process.last_lines()
        yield archiver
    finally:
        archiver.process.stop()
