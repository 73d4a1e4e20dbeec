"""Puts a random history into Kafka step by step, so that the engine cuts it into micro-batches as it comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random

from tests.e2e.support.kafka_log import KafkaLog, Sent
from tests.e2e.support.waiting import eventually
from tests.oracle.values.model import MicroBatch, Record
from tripline_engine.spark.checkpoint.spark_offsets import committed_ends


class Player:
    """Sends to the topics of one query and knows how far it is."""

    def __init__(self, log: KafkaLog, folder: Path, alive: Callable[[], bool] = lambda: True) -> None:
        self._log, self._folder, self._alive = log, folder, alive
        self._sent: Counter[tuple[str, int]] = Counter()

    def send(self, records: Iterable[Sent]) -> None:
        """Returns when Kafka has them."""
        stretch = list(records)
        self._log.send(stretch)
        self._sent.update((record.topic, record.partition) for record in stretch)

    def wait(self, seconds: float = 120.0) -> None:
        """Until committed micro-batches hold all that was sent."""
        eventually(
            lambda: self.is_taken() or not self._alive(),
            f"{self._log.prefix}: the query commits what was sent",
            seconds,
        )
        assert self._alive(), f"{self._log.prefix}: the query has ended"

    def play(self, batches: Iterable[MicroBatch], rng: Random, pause: float) -> None:
        """The history's own steps; with the chance `pause` the next one waits until the query has taken this one."""
        for batch in batches:
            self.step(batch)
            if rng.random() < pause:
                self.wait()
        self.wait()

    def step(self, batch: MicroBatch) -> None:
        """One of a history's steps."""
        self.send(Sent("rules.v1", event) for event in batch.rule_events)
        self.send(Sent("engine-ticks.v1", tick) for tick in batch.ticks)
        self.send(
            Sent("transactions.v1", record.value, record.partition, record.record_time, _headers(record))
            for record in batch.records
        )

    def is_taken(self) -> bool:
        """Whether committed micro-batches hold all that was sent."""
        ends = committed_ends(self._folder)
        prefix = self._log.prefix
        return all(ends.get(prefix + topic, {}).get(p, 0) >= end for (topic, p), end in self._sent.items())


def _headers(record: Record) -> tuple[tuple[str, bytes], ...]:
    """Some records have headers that say nothing."""
    others = (("ce_type", b"com.example.Paid"),) * (record.offset % 3)
    return others if record.backfill is None else (*others, ("backfill", record.backfill.encode()))
