"""A random history as an engine has recorded it, in a real Kafka; half of its transactions are in files alone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from random import Random

from tests.e2e.support.kafka_log import KafkaLog, Sent
from tests.oracle.generators.profile import EVERYTHING_AND_MORE
from tests.oracle.histories.random_history import random_history
from tests.oracle.values.model import MicroBatch
from tests.unit.engine.backtest.test_backtest import FEW_STEPS, definitions, tried
from tests.unit.engine.rebuild.support.recorded_run import Recording
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_engine.archive.file_store import FileStore
from tripline_engine.archive.table import TableFormat
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.settings import ReplaySettings
from tripline_engine.certificate.span import Span
from tripline_engine.rebuild.journals import Journals, journals
from tripline_engine.topic_names import TRANSACTIONS

_PROFILE = replace(EVERYTHING_AND_MORE, micro_batches=FEW_STEPS, partitions=(2, 2))


@dataclass(frozen=True, slots=True)
class KafkaRecording:
    """Where it is, and what may be tried on it."""

    settings: ReplaySettings
    rules: list[TriedRule]
    span: Span

    def open(self) -> AbstractContextManager[Journals]:
        """All topics."""
        return journals(self.settings, TRANSACTION)

    def reopen(self) -> AbstractContextManager[Journals]:
        """As a task does."""
        return journals(self.settings, TRANSACTION, (TRANSACTIONS,))

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a command."""
        return {
            "TRIPLINE_KAFKA": self.settings.kafka.servers,
            "TRIPLINE_TOPIC_PREFIX": self.settings.topic_prefix,
            "TRIPLINE_ARCHIVE": str(self.settings.archive),
            "TRIPLINE_CLOCK": self.settings.clock,
        }


def kafka_recording(kafka: str, prefix: str, seed: int, folder: Path) -> KafkaRecording:
    """One drawn by the seed, under a prefix of its own; half of each partition has left Kafka."""
    batches, rng = _without_gaps(random_history(seed, _PROFILE)), Random(seed)
    engine = Engine(2)
    engine.run(batches)
    log, archive = KafkaLog(kafka, prefix), folder / "archive"
    log.create()
    for name, topic in Recording(batches, engine.out).topics.items():
        for records in topic.kept.values():
            log.send(
                Sent(
                    name,
                    one.value,
                    one.partition,
                    one.timestamp,
                    tuple((k, v or b"") for k, v in one.headers),
                )
                for one in records
            )
    settings = ReplaySettings(KafkaCluster(kafka), TRANSACTION, "data", archive, prefix, "info")
    _archive_half(settings, log)
    choice = list(definitions(batches))
    rules = [tried(rng.choice(choice), 900_001 + number) for number in range(3)]
    return KafkaRecording(settings, rules, Span(0, 1 << 50))


def _without_gaps(batches: Sequence[MicroBatch]) -> list[MicroBatch]:
    """With the offsets that Kafka will give."""
    offsets = [count() for _ in range(_PROFILE.partitions[1])]
    return [
        replace(
            one,
            records=tuple(
                replace(record, offset=next(offsets[record.partition]))
                for record in sorted(one.records, key=lambda record: (record.partition, record.offset))
            ),
        )
        for one in batches
    ]


def _archive_half(settings: ReplaySettings, log: KafkaLog) -> None:
    store = FileStore(settings.archive or Path(), TRANSACTION.name, settings.topic(TRANSACTIONS))
    halves: dict[int, int] = {}
    with journals(settings, TRANSACTION) as by_topic:
        journal = by_topic[TRANSACTIONS]
        for partition in journal.topic.partitions():
            half = journal.end(partition) // 2
            records = [one for run in journal.up_to({partition: half}).runs(partition, 0) for one in run]
            if records:
                halves[partition] = store.write(records, 0, TableFormat(TRANSACTION)).until
    log.delete(TRANSACTIONS, halves)
