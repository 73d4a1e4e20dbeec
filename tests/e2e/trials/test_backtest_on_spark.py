"""Files judged by a job of Spark: byte by byte what one process says of them, whatever dies meanwhile."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from tests.e2e.support.kill_once import KillOnce
from tests.oracle.generators.profile import EVERYTHING_AND_MORE, THE_WHOLE_LANGUAGE
from tests.oracle.histories.seeds import seeds
from tests.unit.engine.backtest.support.file_histories import FileHistory, file_history, row_of
from tests.unit.engine.backtest.test_backtest import COUNT
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_demo.embedded.java import Java
from tripline_engine.backtest.on_spark import work
from tripline_engine.backtest.on_spark.job import OnSpark, backtest_on_spark
from tripline_engine.backtest.on_spark.work import Fault
from tripline_engine.backtest.ordered.file_history import Files, backtest_files
from tripline_engine.backtest.ordered.recorded_file import FileReport, UnreadableRecording
from tripline_engine.certificate.span_alert import SpanAlert
from tripline_engine.cli import main
from tripline_engine.prover.settings import Judged
from tripline_engine.spark.query.batch_session import start_batch_session

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]

JUDGED = Judged(TRANSACTION, "data")
CELL, AT_ONCE = 40, 7


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
    tried, reports = backtest_on_spark(
        OnSpark(session, shards, CELL, AT_ONCE, fault), history.rules, history.span, history.files, JUDGED, alerts.append,
        lambda *progress: told.append(progress),
    )  # fmt: skip
    assert tried.transactions == sum(report.rows for report in reports) or history.span.until < 1 << 50
    return alerts, reports, told


def in_process(history: FileHistory, shards: int) -> tuple[list[SpanAlert], list[FileReport]]:
    alerts: list[SpanAlert] = []
    _, reports = backtest_files(
        history.rules, history.span, history.files, JUDGED, alerts.append, shards, cell=CELL
    )
    return alerts, reports


def in_order(alerts: Sequence[SpanAlert]) -> list[dict[str, Any]]:
    """All that is said, of the moment too: both clocks stand at zero."""
    return [one.alert for one in sorted(alerts, key=lambda one: (one.event_time, one.alert_id))]


def test_random_histories_with_kills(
    session: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    monkeypatch.setattr(work, "UNIT_ROWS", 30)
    seen: Counter[str] = Counter()
    for seed, draw in seeds(5):
        history = file_history(
            seed, draw.choice([EVERYTHING_AND_MORE, THE_WHOLE_LANGUAGE]), tmp_path, rules=2
        )
        marker, shards = tmp_path / f"killed-{seed}", draw.choice([2, 3])
        stage = ["", "read", "judge"][seed % 3]
        fault = KillOnce(marker, stage) if stage else None
        alerts, reports, told = on_spark(session, history, shards, fault)
        expected, same_reports = in_process(history, 1)
        assert [one.alert for one in alerts] == in_order(expected), seed
        assert [one.to_json() for one in reports] == [one.to_json() for one in same_reports]
        assert [done for done, *_ in told] == sorted(done for done, *_ in told)
        assert told[-1][0] == told[-1][1]
        seen["histories"] += 1
        seen["with alerts"] += bool(alerts)
        seen["alerts"] += len(alerts)
        seen["in several parts"] += len(alerts) > 2 * AT_ONCE
        seen[f"killed: {stage}"] += marker.exists()
    record_property("told", f"{dict(seen)}")
    assert (seen["killed: read"], seen["killed: judge"]) == (2, 1)
    assert seen["with alerts"] >= 2
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


def test_the_command(session: SparkSession, tmp_path: Path) -> None:
    """The last one here: it ends the session."""
    assert session.version
    history, rule = file_history(3, EVERYTHING_AND_MORE, tmp_path), tmp_path / "rule.yaml"
    rule.write_text(json.dumps({**COUNT, "limit": 2, "windowSeconds": 300, "name": "two"}))
    told = {}
    for name, more in {"spark": ["--spark", "local[2]"], "process": []}.items():
        words = ["backtest", str(rule), "--out", str(tmp_path / name), *more]
        words += [word for path in history.files.paths for word in ("--files", str(path))]
        result = CliRunner().invoke(main, words, env={"TRIPLINE_KAFKA": "127.0.0.1:1"})
        assert result.exit_code == 0, result.output
        told[name] = json.loads((tmp_path / name / "result.json").read_text("utf-8"))
        of_the_run = [told[name].pop(member) for member in ("seconds", "microBatches")]
        assert len(of_the_run) == 2
        assert pq.read_table(tmp_path / name / "alerts.parquet").num_rows == told[name]["rules"][0]["alerts"]
    assert told["spark"] == told["process"]
