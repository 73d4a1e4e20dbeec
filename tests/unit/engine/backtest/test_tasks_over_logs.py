"""A history from topic and archive is judged by the tasks of a job as in one process, in any number of shards."""

from __future__ import annotations

import logging
import pickle
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.in_parts import in_parts
from tests.oracle.builders.shorthand import batch, payment
from tests.oracle.generators.profile import Profile
from tests.oracle.histories.random_history import random_history
from tests.oracle.histories.seeds import seeds
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.backtest.support.job_tasks import Outcome, run_tasks, sent
from tests.unit.engine.backtest.test_backtest import (
    COUNT,
    FEW_STEPS,
    PROFILES,
    definitions,
    recorded,
    some_span,
    three_a_minute,
    tried,
)
from tests.unit.engine.rebuild.support.recorded_run import Recording
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_contracts.kafka.cluster import KafkaCluster, Sasl
from tripline_engine.backtest.backtest import backtest
from tripline_engine.backtest.history import History, history_of
from tripline_engine.backtest.on_spark import log_units, recorded_units
from tripline_engine.backtest.on_spark.log_units import Logs
from tripline_engine.backtest.on_spark.plan import plan_of
from tripline_engine.backtest.on_spark.recorded_units import RecordedUnits
from tripline_engine.backtest.on_spark.work import REPORT
from tripline_engine.backtest.ordered import known_today
from tripline_engine.backtest.ordered.known_today import backtest_today
from tripline_engine.backtest.tried import Knowledge, Tried
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.settings import ReplaySettings
from tripline_engine.certificate.span import Span
from tripline_engine.certificate.span_alert import SpanAlert
from tripline_engine.kafka_log.record import Record
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.journals import Journals, journals
from tripline_engine.topic_names import TRANSACTIONS

JUDGED = Judged(TRANSACTION, "data")
CELL = 40
HOUR = 3_600_000
KNOWLEDGE: tuple[Knowledge, ...] = ("as-it-was", "today")
LAST: dict[str, Recording] = {}


def reopened(name: str) -> Any:
    """What a task opens; by name, as a task is sent as bytes."""
    return nullcontext(LAST[name].journals)


@dataclass(frozen=True, slots=True)
class Trial:
    """What is tried over which recording."""

    recording: Recording
    rules: list[TriedRule]
    span: Span

    def history(self, by_topic: Journals) -> History:
        return history_of(self.rules, self.span, None, by_topic, TRANSACTION)

    def in_process(self, knowledge: Knowledge) -> tuple[Tried, list[dict[str, Any]]]:
        alerts: list[SpanAlert] = []
        by_topic = self.recording.journals
        run = backtest_today if knowledge == "today" else backtest
        done = run(self.rules, self.span, self.history(by_topic), by_topic, JUDGED, alerts.append)
        alerts.sort(key=lambda one: (one.event_time, one.alert_id))
        return done, [one.alert for one in alerts]

    def by_tasks(self, knowledge: Knowledge, shards: int, draw: Random) -> tuple[int, Outcome]:
        """How many micro-batches are planned, and what the tasks say."""
        LAST["here"] = self.recording
        by_topic = self.recording.journals
        logs = Logs(self.history(by_topic), by_topic, partial(reopened, "here"), knowledge)
        plan = plan_of(shards, self.rules, self.span, logs, JUDGED)
        plan = replace(plan, work=replace(plan.work, cell=CELL))
        return plan.batches, run_tasks(plan, draw)


def trial(seed: int, profile: Profile, folder: Path) -> Trial:
    """One drawn by the seed, a part of whose transactions is in the archive, and gone from the topic."""
    batches, rng = random_history(seed, replace(profile, micro_batches=FEW_STEPS)), Random(seed)
    engine = Engine(2)
    engine.run(batches)
    recording = Recording(batches, engine.out, folder / f"archive-{seed}")
    for partition, kept in recording.topics[TRANSACTIONS].kept.items():
        cuts = sorted(rng.sample(range(len(kept) + 1), min(2, len(kept))))
        recording.archive(TRANSACTIONS, partition, cuts)
    choice = list(definitions(batches))
    rules = [tried(rng.choice(choice), 900_001 + number) for number in range(2)]
    return Trial(recording, rules, some_span(batches, rng))


@in_parts(6, with_soak=30)
@pytest.mark.slow
def test_tasks_say_what_one_process_says(
    histories: range,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    monkeypatch.setattr(known_today, "CELL", CELL)
    monkeypatch.setattr(log_units, "UNIT_OFFSETS", 70)
    monkeypatch.setattr(log_units, "_RUN_ROWS", 30)
    monkeypatch.setattr(recorded_units, "UNIT_WORK", 400)
    monkeypatch.setattr(recorded_units, "_ROW_BYTES", 9_000)
    seen: Counter[str] = Counter()
    for seed, draw in seeds(histories):
        one = trial(seed, draw.choice(PROFILES), tmp_path)
        for knowledge in KNOWLEDGE:
            shards = draw.choice([1, 2, 3])
            done, expected = one.in_process(knowledge)
            batches, outcome = one.by_tasks(knowledge, shards, draw)
            assert outcome.alerts == expected, (seed, knowledge, shards)
            assert outcome.transactions == done.transactions
            assert knowledge == "today" or batches == done.batches
            assert REPORT not in outcome.kinds
            seen[f"{knowledge}, with alerts"] += bool(expected)
            seen["alerts"] += len(expected)
    record_property("tried", f"{dict(seen)}")
    assert min(seen["as-it-was, with alerts"], seen["today, with alerts"]) > 4


def test_what_is_read_is_cut_where_the_span_ends_and_where_it_begins() -> None:
    batches, _ = three_a_minute(600)
    recording = recorded(batches)
    first = START + 300 * 60_000
    one = Trial(recording, [tried({**COUNT, "limit": 3, "windowSeconds": 60})], Span(first, first + 600_000))
    done, expected = one.in_process("as-it-was")
    planned, outcome = one.by_tasks("as-it-was", 2, Random(1))
    assert (outcome.alerts, outcome.transactions, planned) == (expected, done.transactions, done.batches)
    assert len(expected) > 20
    assert 30 < outcome.transactions < 900
    assert planned < len(batches)


def test_windows_are_warm_from_where_the_history_begins() -> None:
    """That something happened earlier, only the task that reads it sees."""
    first = START + 100 * HOUR
    records = [payment(0, START), *(payment(1 + n, first + n * 60_000) for n in range(30))]
    rules = [tried({**COUNT, "limit": 1, "windowSeconds": 3_600})]
    one = Trial(recorded([batch(ticks=[START]), batch(records=records)]), rules, Span(first, 1 << 50))
    history = one.history(one.recording.journals)
    assert not history.available
    assert START < history.since < first - HOUR
    _, expected = one.in_process("today")
    assert [alert["warm"] for alert in expected] == [True] * 30
    assert one.by_tasks("today", 3, Random(1))[1].alerts == expected


def test_of_a_bucketed_value_every_shard_tells_the_same_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock decides that, and shards cut their micro-batches where their own rows are."""
    monkeypatch.setattr(known_today, "CELL", CELL)
    records = [payment(n, START + n * 20_000, more={"payeeId": n % 7}) for n in range(900)]
    rules = [tried({**COUNT, "limit": 20, "windowSeconds": 7_200, "precision": "bucketed(60)"})]
    one = Trial(recorded([batch(ticks=[START]), batch(records=records)]), rules, Span(0, 1 << 50))
    _, expected = one.in_process("today")
    assert len({len(alert["contributors"]["transactions"]) for alert in expected}) > 3
    for shards in (1, 2, 3):
        assert one.by_tasks("today", shards, Random(1))[1].alerts == expected


def test_an_order_without_transactions_is_one_unit() -> None:
    units = RecordedUnits.of([], partial(reopened, "here"))
    assert (units.count, units.batches) == (1, 0)


def test_no_password_is_in_what_tasks_are_told(tmp_path: Path) -> None:
    """The name of its file is."""
    file = tmp_path / "password"
    file.write_text("hush-hush-42")
    file.chmod(0o600)
    kafka = KafkaCluster("kafka:9093", "SASL_SSL", Sasl("SCRAM-SHA-512", "prover", file))
    assert "hush-hush-42" in kafka.client_config().values()
    settings = ReplaySettings(kafka, TRANSACTION, "wall", Path("archive"), "", "info").elsewhere()
    told = sent(partial(journals, settings, TRANSACTION, (TRANSACTIONS,)))
    assert b"hush-hush-42" not in told
    there = pickle.loads(told).args[0]  # our own
    assert there == settings
    assert there.archive.is_absolute()


def test_offsets_without_records_are_units_too() -> None:
    recording = recorded(three_a_minute(3)[0])
    recording.topics[TRANSACTIONS].kept[1] = []
    recording.topics[TRANSACTIONS].kept[2] = [Record(2, 5, 0, None, None, ())]
    units = log_units.log_units(recording.journals[TRANSACTIONS], {0: 4})
    assert units == [(0, (4, 9)), (1, (0, 0)), (2, (0, 6))]
