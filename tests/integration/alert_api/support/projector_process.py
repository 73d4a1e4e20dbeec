"""The projector of real parts as a process that tests may kill: KAFKA TOPIC DSN [--die-before-offsets] [--rules=TOPIC].

With the first option it kills itself (SIGKILL) between the database's commit and the offsets' commit; with the second
it reads commands from that topic.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence

from prometheus_client import CollectorRegistry

from alert_api.adapters.kafka_source import KafkaAlertSource
from alert_api.adapters.metrics import ProjectorMetrics
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.processes import reader
from alert_api.service.projector import Projector, RetryPolicy
from alert_api.service.records import Record
from tripline_contracts import event_type_loader
from tripline_contracts.kafka.cluster import KafkaCluster


class DyingSource(KafkaAlertSource):
    """Never gets to commit an offset."""

    def commit(self, records: Sequence[Record]) -> None:
        del records
        os.kill(os.getpid(), signal.SIGKILL)


def main(kafka: str, topic: str, dsn: str, options: Sequence[str]) -> None:
    metrics = ProjectorMetrics(CollectorRegistry())
    kind = DyingSource if "--die-before-offsets" in options else KafkaAlertSource
    shadows = [word.removeprefix("--shadows=") for word in options if word.startswith("--shadows=")]
    rules = [word.removeprefix("--rules=") for word in options if word.startswith("--rules=")]
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with (
        PostgresIntake(dsn) as intake,
        kind(KafkaCluster(kafka), [topic, *rules, *shadows], metrics.lag, group=topic) as source,
    ):
        Projector(
            source,
            intake,
            reader("".join(rules), event_type_loader.load(), "".join(shadows)),
            metrics,
            stop,
            RetryPolicy(0.05, 0.5),
        ).run()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
