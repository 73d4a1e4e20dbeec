"""A rule that is tried over files, in the forms in which files are found."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from click.testing import CliRunner

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, payment
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.backtest.test_backtest import COUNT, said, tried
from tests.unit.engine.backtest.test_known_today import ALL, EACH, recorded, tried_today
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_engine.backtest.ordered.file_history import Files, backtest_files
from tripline_engine.backtest.ordered.recorded_file import FileReport, UnreadableRecording
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.cli import main
from tripline_engine.kafka_log.record import Record
from tripline_engine.prover.settings import Judged

MAPPING = """\
delimiter: semicolon
decimalComma: true
fields:
  transactionId: Reference
  eventTime: {column: When, form: epoch-milliseconds}
  payeeId: From
  beneficiaryId: To
  paymentType: {column: Kind, values: {Cash: CSH}}
  paymentAmount: Amount
"""
PAYMENTS = [payment(n, START + (7 * n % 10) * 60_000, f"{n}.5") for n in range(10)]
"""Ten minutes, not in order."""
ROWS: list[dict[str, Any]] = [json.loads(record.value or b"") for record in PAYMENTS]


def bank(rows: Sequence[dict[str, Any]]) -> bytes:
    lines = ["Reference;When;From;To;Kind;Amount;Note"]
    lines += [
        f"{row['transactionId']};{row['eventTime']};{row['payeeId']};{row['beneficiaryId']};Cash;"
        f"{row['paymentAmount'].replace('.', ',')};x"
        for row in rows
    ]
    return "\r\n".join(lines).encode()


def json_lines(rows: Sequence[dict[str, Any]]) -> bytes:
    return b"\n".join(json.dumps(row).encode() for row in rows)


def parquet(rows: Sequence[dict[str, Any]]) -> bytes:
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue())


FORMS: dict[str, tuple[Callable[[Sequence[dict[str, Any]]], bytes], str | None]] = {
    "CSV with a mapping, packed by gzip": (lambda rows: gzip.compress(bank(rows)), MAPPING),
    "JSON lines, packed by zstd": (lambda rows: zstandard.compress(json_lines(rows)), None),
    "a JSON array": (lambda rows: json.dumps(list(rows)).encode(), None),
    "Parquet": (parquet, None),
}


def tried_on_files(
    rule: TriedRule, *contents: bytes, folder: Path, mapping: str | None = None, named: Sequence[Record] = (),
    span: Span = ALL, shards: int = 1,
) -> tuple[list[dict[str, Any]], list[FileReport]]:  # fmt: skip
    paths = [folder / f"file-{number}" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    alerts: list[dict[str, Any]] = []
    files = Files(paths, None if mapping is None else read_mapping(mapping, TRANSACTION), named)
    judged = Judged(TRANSACTION, "data")
    _, reports = backtest_files([rule], span, files, judged, lambda one: alerts.append(one.alert), shards)
    return alerts, reports


@pytest.mark.parametrize("form", FORMS)
def test_the_alerts_are_those_of_the_same_history_in_kafka(form: str, tmp_path: Path) -> None:
    write, mapping = FORMS[form]
    batches = [batch(ticks=[START]), *(batch(records=[record]) for record in PAYMENTS)]
    rule = tried({**COUNT, "limit": 2, "windowSeconds": 300})
    expected = tried_today(recorded(batches), rule)
    alerts, [report] = (
        tried_on_files(rule, write(ROWS[:5]), write(ROWS[5:]), folder=tmp_path, mapping=mapping, shards=2)[0],
        tried_on_files(rule, write(ROWS), folder=tmp_path, mapping=mapping)[1],
    )
    assert said(alerts) == said(expected)
    assert len(alerts) == 9
    assert (report.rows, report.bad, list(report.unused)) == (10, 0, ["Note"] if mapping else [])


def test_what_cannot_be_read_is_told_by_line_and_reason(tmp_path: Path) -> None:
    lines = json_lines(ROWS[:2]).split(b"\n")
    wrong = {**ROWS[2], "paymentType": "XXX"}
    content = b"\n".join([lines[0], b'{"broken', json.dumps(wrong).encode(), lines[1]])
    alerts, [report] = tried_on_files(tried(EACH), content, folder=tmp_path)
    assert len(alerts) == report.rows == 2
    assert [one.line for one in report.unread] == [2, 3]
    assert "paymentType" in report.unread[1].reason


def test_a_file_that_is_none_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRecording, match="file-0: the file is XML"):
        tried_on_files(tried(EACH), b"<html>", folder=tmp_path)


def test_the_span_and_a_list_as_it_is_today(tmp_path: Path) -> None:
    registry = Registry()
    events = [registry.change_list("watched", values, START) for values in (["99"], ["25"])]
    named = [Record(0, offset, 0, None, event, ()) for offset, event in enumerate(events)]
    rule = tried({**EACH, "filter": {"field": "payeeId", "in": {"list": "watched"}}})
    span = Span(START + 120_000, START + 240_000)
    alerts, _ = tried_on_files(rule, json_lines(ROWS), folder=tmp_path, named=named, span=span)
    times = [alert["eventTime"] - START for alert in alerts]
    assert times == [120_000, 180_000]
    assert [alert["value"] for alert in alerts] == ["3", "4"], "the window reaches back before the span"


def test_the_command(tmp_path: Path) -> None:
    file, mapping, rule = tmp_path / "bank.csv.gz", tmp_path / "bank.yaml", tmp_path / "rule.yaml"
    broken = bank(ROWS) + b"\r\nR;tomorrow;25;12;Cash;1;x"
    file.write_bytes(gzip.compress(broken))
    mapping.write_text(MAPPING)
    rule.write_text(json.dumps({**COUNT, "limit": 2, "windowSeconds": 300, "name": "two"}))
    out = tmp_path / "out"
    words = ["backtest", str(rule), "--files", str(file), "--mapping", str(mapping), "--out", str(out)]
    result = CliRunner().invoke(main, words, env={"TRIPLINE_KAFKA": "127.0.0.1:1"})
    assert result.exit_code == 0, result.output
    told = json.loads((out / "result.json").read_text("utf-8"))
    [report] = told["files"]
    assert (report["name"], report["rows"], report["bad"]) == ("bank.csv.gz", 10, 1)
    [unread] = report["unread"]
    assert unread["line"] == 12
    assert unread["reason"].startswith("eventTime: ")
    assert pq.read_table(out / "alerts.parquet").num_rows == told["rules"][0]["alerts"] == 9
    assert "bank.csv.gz: 10 rows, 1 that cannot be read; not read: Note" in result.output
    assert "two: 9 alerts in 1 groups" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--mapping", "m.yaml", "--from", "x", "--to", "y"], "--mapping: goes with --files"),
        (["--files", "a.csv", "--engine", "e"], "--engine: files are no engine's history"),
        (["--files", "a.csv", "--knowledge", "today"], "--knowledge: of files there is one history"),
        (["--files", "a.csv", "--from", "2026-05-01T00:00:00Z"], "--from and --to: both are needed"),
        ([], "--from and --to: both are needed"),
    ],
)  # fmt: skip
def test_options_at_odds_are_refused(words: list[str], message: str) -> None:
    result = CliRunner().invoke(
        main, ["backtest", "rule.yaml", *words], env={"TRIPLINE_KAFKA": "127.0.0.1:1"}
    )
    assert (result.exit_code, message in result.output) == (1, True), result.output
