"""Records that are small as they are stored and hundreds of megabytes in a client, and what processes come to."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from confluent_kafka import Producer

from tests.e2e.support.kafka_log import KafkaLog, Logged, Sent
from tripline_demo.processes import leash
from tripline_engine.kafka_log.stored_log import StoredLog
from tripline_engine.kafka_log.topic_log import TopicLog

MEBIBYTE = 1 << 20
SECONDS = 120.0
KEPT = 100_000
"""Bytes of a value that are read back: more than any that is parsed."""
MOST_STORED = 4 * MEBIBYTE
BEFORE_PROTECTION = {"compression.type": "producer", "max.message.bytes": str(MOST_STORED)}
"""Topics as an earlier release made them, but for lz4, which makes 1.6 MB of 400."""


class LargeRecordLog(KafkaLog):
    """Topics that may hold such records, which are not read back whole."""

    def send_batch(self, codec: str, records: Iterable[Sent]) -> None:
        """Records of one partition in one record batch, compressed by that codec. Returns when the broker has it."""
        producer = Producer(
            {
                **self.cluster.client_config(),
                "log_level": 0,
                "compression.type": codec,
                "message.max.bytes": 1_000_000_000,
                "batch.size": 1_000_000_000,
                "queue.buffering.max.kbytes": 2_000_000,
                "linger.ms": 500,
            }
        )
        failures: list[Any] = []
        for record in records:
            producer.produce(
                self.prefix + record.topic,
                record.value,
                partition=record.partition,
                timestamp=0 if record.time is None else record.time,
                headers=list(record.headers),
                on_delivery=lambda error, _: failures.append(error) if error else None,
            )
        assert producer.flush(SECONDS) == 0
        assert not failures, failures

    def read(self, topic: str) -> list[Logged]:
        """The beginnings of values."""
        sent = []
        with TopicLog(self.cluster, self.prefix + topic) as log:
            for partition in log.partitions():
                first, until = log.span(partition)
                for record in StoredLog(log).records(partition, first, until, KEPT):
                    headers = {name.decode(): value or b"" for name, value in record.headers}
                    sent.append(
                        Logged(partition, record.offset, record.time, record.key, record.value, headers)
                    )
        return sent


def large_value(mebibytes: int) -> bytes:
    """JSON of that size."""
    return b'{"a":"' + b"x" * (mebibytes * MEBIBYTE) + b'"}'


class Peaks:
    """The largest resident memory of a process on a leash and of all below it, in MiB, by kind."""

    def __init__(self, leashed: leash.Leashed) -> None:
        self._leash = leashed.process.pid
        self.mebibytes: dict[str, int] = {}

    def look(self) -> bool:
        """Takes note of what the system remembers of those that live now."""
        for process in self._tree():
            with suppress(psutil.NoSuchProcess, OSError, StopIteration):
                # by what it runs: a child of the JVM has the JVM's memory, and not its name, until it has begun
                kind = "java" if Path(process.exe()).name == "java" else "worker"
                kind = "main" if process.ppid() == self._leash else kind
                status = Path(f"/proc/{process.pid}/status").read_text()
                line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
                self.mebibytes[kind] = max(self.mebibytes.get(kind, 0), int(line.split()[1]) // 1024)
        return True

    def _tree(self) -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self._leash).children(recursive=True)
        return []
