"""`tripline-engine propose-mapping`: a mapping, then the first rows as they are read with it; no Kafka is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from tripline_engine.cli import main

BANK = "Referenz;Datum;Auftraggeber;Art;Betrag\nR1;2021-06-01T12:00:00Z;a;CRD;1,5\nR2;soon;a;CRD;1,5\n"


def said(*words: object) -> Result:
    return CliRunner().invoke(
        main, ["propose-mapping", *map(str, words)], env={"TRIPLINE_EVENT_TYPE": "transaction"}
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bank.csv"
    path.write_text(BANK, "utf-8")
    return path


def test_a_proposal_and_what_it_reads(file: Path) -> None:
    proposal = said(file)
    assert (proposal.exit_code, proposal.stderr) == (0, "")
    mapping = file.with_suffix(".yaml")
    mapping.write_text(proposal.stdout, "utf-8")
    shown = said(file, "--mapping", mapping)
    assert shown.exit_code == 0
    assert [json.loads(line)["paymentAmount"] for line in shown.stdout.splitlines()] == ["1.5"]
    refused, told = shown.stderr.splitlines()
    assert refused.startswith("bank.csv, line 3: eventTime: 'soon' is not in ISO 8601")
    assert told == "bank.csv: of 2 rows 1 cannot be read"


def test_parquet_is_read_here(tmp_path: Path) -> None:
    path = tmp_path / "lake.parquet"
    table = {
        "id": ["a"],
        "time": [1_622_548_800_000],
        "sender": ["b"],
        "type": ["CRD"],
        "amount": ["5"],
        "note": ["x"],
    }
    pq.write_table(pa.table(table), path)
    mapping = tmp_path / "lake.yaml"
    mapping.write_text(said(path).stdout, "utf-8")
    shown = said(path, "--mapping", mapping)
    assert json.loads(shown.stdout)["eventTime"] == 1_622_548_800_000
    assert "of 1 rows 0 cannot be read; not read: note" in shown.stderr


def test_what_is_wrong_is_a_sentence(file: Path, tmp_path: Path) -> None:
    assert "No such file" in said(tmp_path / "none.csv").stderr
    file.write_bytes(b"PK\x03\x04")
    assert "a spreadsheet is one" in said(file).stderr
    mapping = tmp_path / "wrong.yaml"
    mapping.write_text("encoding: x\n", "utf-8")
    outcome = said(file, "--mapping", mapping)
    assert (outcome.exit_code, "encoding: expected one of" in outcome.stderr) == (1, True)
    wrong_type = CliRunner().invoke(
        main, ["propose-mapping", str(file)], env={"TRIPLINE_EVENT_TYPE": "orders"}
    )
    assert "TRIPLINE_EVENT_TYPE" in wrong_type.stderr
