"""Payments at a steady rate and every few seconds a new version of a rule, whatever becomes of the engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from confluent_kafka import KafkaError, Message, Producer

from bench.workload.rules import Subject, Version
from bench.workload.workload import Column, Workload, values
from tests.e2e.support.kafka_log import KafkaLog
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tripline_contracts import decimals
from tripline_engine.spark.checkpoint.spark_offsets import committed_ends

CHANGE_SECONDS = 3.0
STEP_SECONDS = 0.005
CENTS = Decimal("0.01")


class Traffic:
    """While the block runs, a thread sends to every log the same. Event time and record time are the wall clock, and
    never step back.

    Each partition's offsets are those of the workload, because there is one producer and it names the partitions; rule
    events lie at the offsets of their versions.

    :ivar sent: so many payments, from the workload's first on
    :ivar event_time: of each payment, ms since the epoch
    :ivar seconds: for how long it has been sending
    """

    def __init__(self, logs: Sequence[KafkaLog], load: Workload, limits: Mapping[Subject, Decimal]) -> None:
        self._prefixes, self._load, self._limits = [log.prefix for log in logs], load, limits
        self._registry = Registry()
        self._failures: list[str] = []
        self._stop, self._lock = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._run, name="traffic", daemon=True)
        self._producer = Producer(
            {
                "bootstrap.servers": logs[0].kafka,
                "enable.idempotence": True,
                "linger.ms": 5,
                "queue.buffering.max.messages": 500_000,
                "log_level": 0,
            }
        )
        self.event_time: Column = np.zeros(len(load), np.int64)
        self.versions: list[Version] = []
        self.sent, self.seconds, self._latest = 0, 0.0, 0

    def __enter__(self) -> Self:
        self._begin = time.monotonic()
        self._wall_clock()
        for subject in self._limits:
            self._publish(subject)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(60)

    def stop(self) -> None:
        """No more. Returns when Kafka has all."""
        self._stop.set()
        self._thread.join(60)
        assert not self._thread.is_alive()
        assert self._producer.flush(60) == 0
        assert not self._failures, self._failures[:3]
        assert self.sent < len(self._load), "the workload was too short"

    def mark(self, payee: int) -> None:
        """The next payment comes from this payee, whom nobody else may pay as."""
        with self._lock:
            self._load.payee[self.sent] = payee

    def is_taken(self, spark: Path, prefix: str) -> bool:
        """Whether committed micro-batches hold all payments and rule events of the topics with that prefix."""
        ends = committed_ends(spark)
        counts = [sum(ends.get(prefix + topic, {}).values()) for topic in ("transactions.v1", "rules.v1")]
        return counts == [self.sent, len(self.versions)]

    def part(self) -> Workload:
        """What has been sent, as a workload."""
        return first(self._load, self.sent)

    def _run(self) -> None:
        change_at = CHANGE_SECONDS
        while not self._stop.wait(STEP_SECONDS):
            self.seconds = time.monotonic() - self._begin
            self._wall_clock()
            with self._lock:
                self._pay(min(int(self.seconds * self._load.rate), len(self._load)))
            if self.seconds >= change_at:
                change_at += CHANGE_SECONDS
                subjects = list(self._limits)
                self._publish(subjects[len(self.versions) % len(subjects)])
            self._producer.poll(0)

    def _wall_clock(self) -> None:
        self._latest = max(self._latest, time.time_ns() // 1_000_000)

    def _pay(self, stop: int) -> None:
        start, latest = self.sent, self._latest
        self.event_time[start:stop] = latest
        for partition, value in values(self._load, start, stop, [latest] * (stop - start)):
            self._produce("transactions.v1", partition, value, latest)
        self.sent = stop

    def _publish(self, subject: Subject) -> None:
        """The next version: by turns with the limit and with one that is a tenth higher, in force from now on."""
        known = self._registry.rules.get(subject.rule_id)
        number = known.version + 1 if known else 1
        limit = (self._limits[subject] * (10 + number % 2) / 10).quantize(CENTS)
        definition = draft(
            subject.function, ">", decimals.plain(limit), by=subject.grouping, seconds=subject.window_seconds
        )
        event = self._registry.publish(subject.rule_id, definition, self._latest, self._latest)
        self._produce("rules.v1", 0, event, self._latest)
        self.versions.append(Version(subject, number, len(self.versions), limit, self._latest))

    def _produce(self, topic: str, partition: int, value: bytes, timestamp: int) -> None:
        for prefix in self._prefixes:
            self._producer.produce(
                prefix + topic, value, partition=partition, timestamp=timestamp, on_delivery=self._report
            )

    def _report(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._failures.append(error.str())


def first(load: Workload, count: int) -> Workload:
    """The workload's first payments."""
    return replace(
        load,
        payee=load.payee[:count],
        beneficiary=load.beneficiary[:count],
        payment_type=load.payment_type[:count],
        cents=load.cents[:count],
        partition=load.partition[:count],
        offset=load.offset[:count],
    )
