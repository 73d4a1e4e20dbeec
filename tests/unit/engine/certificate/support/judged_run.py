"""What an engine in memory has read, recorded and told, to be proven."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.oracle.values.model import MicroBatch
from tests.unit.engine.archive.support.memory_store import MemoryTopic
from tests.unit.engine.rebuild.support.recorded_run import Recording
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_engine.certificate.certificate import Certificate
from tripline_engine.certificate.prove import Asked, prove_span
from tripline_engine.certificate.span import Span
from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.kafka_log.record import Record
from tripline_engine.topic_names import ALERTS

ALWAYS = Span(0, 1 << 50)


@dataclass
class Judged:
    """What an engine has read, recorded and told."""

    recording: Recording
    alerts: MemoryTopic

    @staticmethod
    def of(
        batches: Sequence[MicroBatch], output: Sequence[OutRecord], repeat: Random | None = None
    ) -> Judged:
        """Some alerts come again, as after a kill, and were detected later then."""
        topic = MemoryTopic(kept={0: [], 1: []}, name=ALERTS)
        for record in output:
            if record.topic != ALERTS:
                continue
            times = 2 if repeat and repeat.random() < 0.2 else 1
            for again in range(times):
                alert = json.loads(record.value)
                alert["detectedAt"] += 1000 * again
                add(topic, alert)
        return Judged(Recording(batches, output), topic)

    def prove(
        self, span: Span = ALWAYS, shards: int = 1, against: Certificate | None = None, **more: Any
    ) -> Certificate:
        bounds = against.bounds if against else None
        asked = Asked(span, shards=shards, bounds=bounds, **more)
        return prove_span(asked, self.recording.journals, self.alerts, TRANSACTION, "data")

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(record.value or b"") for kept in self.alerts.kept.values() for record in kept]


def add(topic: MemoryTopic, alert: dict[str, Any]) -> None:
    partition = hash(alert["alertId"]) % 2
    kept = topic.kept[partition]
    kept.append(Record(partition, len(kept), 0, b"", json.dumps(alert).encode(), ()))


def ran(batches: Sequence[MicroBatch], shards: int = 1) -> Judged:
    engine = Engine(shards)
    engine.run(batches)
    return Judged.of(batches, engine.out)
