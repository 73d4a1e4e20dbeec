"""Histories judged by a job of Spark: byte by byte what one process says of them, whatever dies meanwhile."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from tests.e2e.support.kafka_recording import KafkaRecording, kafka_recording
from tests.e2e.support.kill_once import KillInEach, KillOnce
from tests.in_parts import in_parts
from tests.oracle.generators.profile import EVERYTHING_AND_MORE, THE_WHOLE_LANGUAGE
from tests.oracle.histories.seeds import seeds
from tests.unit.engine.backtest.support.file_histories import FileHistory, file_history, row_of
from tests.unit.engine.backtest.test_backtest import COUNT
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_demo.embedded.java import Java
from tripline_engine.backtest.backtest import backtest
from tripline_engine.backtest.history import history_of
from tripline_engine.backtest.on_spark import file_units, log_units, recorded_units
from tripline_engine.backtest.on_spark.job import JobFailed, OnSpark, backtest_on_spark
from tripline_engine.backtest.on_spark.log_units import Logs
from tripline_engine.backtest.on_spark.plan import plan_of
from tripline_engine.backtest.on_spark.work import Fault
from tripline_engine.backtest.ordered import known_today
from tripline_engine.backtest.ordered.file_history import Files, backtest_files
from tripline_engine.backtest.ordered.known_today import backtest_today
from tripline_engine.backtest.ordered.recorded_file import FileReport, UnreadableRecording
from tripline_engine.backtest.tried import Knowledge
from tripline_engine.certificate.span_alert import SpanAlert
from tripline_engine.cli import main
from tripline_engine.errors import RecordsMissing
from tripline_engine.prover.settings import Judged
from tripline_engine.spark.query.batch_session import start_batch_session

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

JUDGED = Judged(TRANSACTION, "data")
CELL, BYTES = 40, 7_000


@pytest.fixture(scope="module")
def session(java: Java) -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("JAVA_HOME", str(java.home))
        patched.setenv("PATH", f"{java.home / 'bin'}{os.pathsep}{os.environ['PATH']}")
        session = start_batch_session("local[2]", "512m")
        yield session
        session.stop()


def on_spark(
    session: SparkSession, history: FileHistory, shards: int, fault: Fault | None = None
) -> tuple[list[SpanAlert], list[FileReport], list[tuple[int, int, int]]]:
    alerts: list[SpanAlert] = []
    told: list[tuple[int, int, int]] = []
    spark = OnSpark(session, shards, CELL, BYTES, fault)
    tried, reports = backtest_on_spark(
        spark, history.rules, history.span, history.files, JUDGED, alerts.append,
        lambda *progress: told.append(progress),
    )  # fmt: skip
    assert tried.transactions == sum(report.rows for report in reports) or history.span.until < 1 << 50
    assert not held_on_to(session), "the driver has what it has read already"
    return alerts, reports, told


def held_on_to(session: SparkSession) -> bool:
    """Whether Spark still has what a job of a query gave."""
    is_none: bool = session.sparkContext._jsc.sc().dagScheduler().activeQueryToJobs().isEmpty()
    return not is_none


def in_process(history: FileHistory, shards: int) -> tuple[list[SpanAlert], list[FileReport]]:
    alerts: list[SpanAlert] = []
    _, reports = backtest_files(
        history.rules, history.span, history.files, JUDGED, alerts.append, shards, cell=CELL
    )
    return alerts, reports


def parted(alerts: Sequence[SpanAlert]) -> tuple[list[SpanAlert], list[SpanAlert]]:
    """Those that are told whole, and those that are counted alone."""
    return [one for one in alerts if one.alert_id], [one for one in alerts if not one.alert_id]


def in_order(alerts: Sequence[SpanAlert]) -> list[dict[str, Any]]:
    """All that is said, of the moment too: both clocks stand at zero."""
    return [one.alert for one in sorted(alerts, key=lambda one: (one.event_time, one.alert_id))]


@in_parts(3, with_soak=15)
def test_random_histories_with_kills(
    histories: range,
    session: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    monkeypatch.setattr(file_units, "UNIT_ROWS", 30)
    seen: Counter[str] = Counter()
    for seed, draw in seeds(histories):
        history = file_history(
            seed, draw.choice([EVERYTHING_AND_MORE, THE_WHOLE_LANGUAGE]), tmp_path, rules=2
        )
        one = bool(seed % 3)
        history.rules[one] = replace(history.rules[one], is_counted=True)
        marker, shards = tmp_path / f"killed-{seed}", draw.choice([2, 3])
        stage = ["", "read", "judge"][seed % 3]
        fault = KillOnce(marker, stage) if stage else None
        alerts, reports, told = on_spark(session, history, shards, fault)
        expected, same_reports = in_process(history, 1)
        kept, counted = parted(alerts)
        expected_kept, expected_counted = parted(expected)
        assert [one.alert for one in kept] == in_order(expected_kept), seed
        assert Counter(map(repr, counted)) == Counter(map(repr, expected_counted)), seed
        assert [one.to_json() for one in reports] == [one.to_json() for one in same_reports]
        assert [done for done, *_ in told] == sorted(done for done, *_ in told)
        assert told[-1][0] == told[-1][1]
        seen["histories"] += 1
        seen["with alerts"] += bool(alerts)
        seen["alerts"] += len(alerts)
        seen["counted"] += len(counted)
        seen["in several parts"] += sum(len(json.dumps(one.alert)) for one in alerts) > 2 * BYTES
        seen[f"killed: {stage}"] += marker.exists()
    record_property("told", f"{dict(seen)}")
    assert seen["killed: read"] == seen["killed: judge"] == len(histories) // 3
    assert seen["with alerts"] >= 2
    assert seen["counted"]
    assert seen["in several parts"] >= 1


def test_other_forms_and_what_cannot_be_read(session: SparkSession, tmp_path: Path) -> None:
    history = file_history(3, EVERYTHING_AND_MORE, tmp_path)
    rows = [json.dumps(row_of(one), default=str) for one in history.transactions]
    lines = tmp_path / "rows.jsonl"
    lines.write_text("\n".join(["{broken", *rows[:40], '{"transactionId": 1}', *rows[40:]]))
    both = FileHistory(history.rules, history.span, Files([lines, *history.files.paths]), [], [])
    alerts, reports, _ = on_spark(session, both, 2)
    expected, same_reports = in_process(both, 2)
    assert [one.alert for one in alerts] == in_order(expected)
    assert [one.to_json() for one in reports] == [one.to_json() for one in same_reports]
    assert reports[0].bad == 2


def test_a_file_that_is_none_is_a_sentence(session: SparkSession, tmp_path: Path) -> None:
    history = file_history(3, EVERYTHING_AND_MORE, tmp_path)
    (tmp_path / "none.xml").write_text("<html>")
    wrong = FileHistory(history.rules, history.span, Files([tmp_path / "none.xml"]), [], [])
    with pytest.raises(UnreadableRecording, match=r"none\.xml: the file is XML"):
        on_spark(session, wrong, 2)


def says_no(_stage: str, number: int) -> None:
    raise RecordsMissing(f"transactions.v1 partition {number}: nobody has it")


def test_what_no_task_can_do_is_a_sentence(session: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(JobFailed) as failed:
        on_spark(session, file_history(3, EVERYTHING_AND_MORE, tmp_path), 2, says_no)
    assert re.fullmatch(
        r"Spark's job failed: transactions\.v1 partition \d: nobody has it", str(failed.value)
    )


def judged_from_logs(
    session: SparkSession, recorded: KafkaRecording, knowledge: Knowledge, fault: Fault
) -> tuple[int, int]:
    """Compares with one process; how many alerts there were, and how many tasks read."""
    with recorded.open() as by_topic:
        history = history_of(recorded.rules, recorded.span, None, by_topic, TRANSACTION)
        alerts: list[SpanAlert] = []
        expected: list[SpanAlert] = []
        run = backtest_today if knowledge == "today" else backtest
        asked = recorded.rules, recorded.span
        done = run(*asked, history, by_topic, JUDGED, expected.append)
        logs = Logs(history, by_topic, recorded.reopen, knowledge)
        units = plan_of(3, *asked, logs, JUDGED).source.count
        tried, reports = backtest_on_spark(
            OnSpark(session, 3, CELL, BYTES, fault), *asked, logs, JUDGED, alerts.append
        )
    assert [one.alert for one in alerts] == in_order(expected)
    assert (tried.engine, tried.transactions, reports) == (done.engine, done.transactions, [])
    assert knowledge == "today" or tried.batches == done.batches
    return len(alerts), units


def test_topic_and_archive_with_kills(
    session: SparkSession,
    kafka: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    monkeypatch.setattr(known_today, "CELL", CELL)
    monkeypatch.setattr(log_units, "UNIT_OFFSETS", 100)
    monkeypatch.setattr(recorded_units, "UNIT_WORK", 100)
    recorded = kafka_recording(kafka, "spark-logs-", 8, tmp_path)
    deaths: list[tuple[Knowledge, list[str]]] = [("as-it-was", ["read", "judge"]), ("today", ["read"])]
    told = []
    for knowledge, stages in deaths:
        markers = {stage: tmp_path / f"killed-{knowledge}-{stage}" for stage in stages}
        told.append(judged_from_logs(session, recorded, knowledge, KillInEach(markers)))
        assert all(marker.exists() for marker in markers.values())
    record_property("told", f"alerts and tasks that read: {told}")
    assert all(alerts > 100 and units > 2 for alerts, units in told)


def test_the_command(session: SparkSession, kafka: str, tmp_path: Path) -> None:
    """The last one here: it ends the session."""
    assert session.version
    history, rule = file_history(3, EVERYTHING_AND_MORE, tmp_path), tmp_path / "rule.yaml"
    rule.write_text(json.dumps({**COUNT, "limit": 2, "windowSeconds": 300, "name": "two"}))
    recorded = kafka_recording(kafka, "spark-command-", 3, tmp_path)
    files = [word for path in history.files.paths for word in ("--files", str(path))]
    span = ["--from", "1970-01-01T00:00:00Z", "--to", "2100-01-01T00:00:00Z"]
    same_command(rule, tmp_path / "files", files, {"TRIPLINE_KAFKA": "127.0.0.1:1"})
    same_command(rule, tmp_path / "logs", span, recorded.variables)


def same_command(rule: Path, out: Path, words: Sequence[str], variables: dict[str, str]) -> None:
    """On Spark as in this process."""
    out.mkdir()
    told = {}
    for name, more in {"spark": ["--spark", "local[2]"], "process": []}.items():
        command = ["backtest", str(rule), "--out", str(out / name), *words, *more]
        result = CliRunner().invoke(main, command, env=variables)
        assert result.exit_code == 0, result.output
        told[name] = json.loads((out / name / "result.json").read_text("utf-8"))
        of_the_run = [told[name].pop(member) for member in ("seconds", "microBatches")]
        assert len(of_the_run) == 2
        assert told[name]["rules"][0]["alerts"] > 0
        assert pq.read_table(out / name / "alerts.parquet").num_rows == told[name]["rules"][0]["alerts"]
    assert told["spark"] == told["process"]
