"""The records that the fast parser reads, and those that it leaves; `test_parser_against_json` has their values."""

from __future__ import annotations

import json
from decimal import Decimal

import pyarrow as pa
import pytest

from tripline_contracts.event_type_loader import load
from tripline_engine.domain.transactions.fast_parser import FastParser

PARSER = FastParser(load())
GOOD = {
    "transactionId": "t-1",
    "eventTime": 1_700_000_000_000,
    "payeeId": 25,
    "beneficiaryId": "12",
    "paymentAmount": "-12.30",
    "paymentType": "CSH",
    "ingestionTimestamp": None,
}


def read(*values: bytes | None) -> list[int]:
    rows: list[int] = PARSER.read(pa.array(values, pa.binary())).rows.tolist()
    return rows


def written(**more: object) -> bytes:
    return json.dumps({**GOOD, **more}, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "value",
    [
        written(),
        json.dumps(GOOD, separators=(",", ":")).encode(),
        json.dumps(GOOD, indent=2).encode() + b"\r\n",
        json.dumps(dict(reversed(GOOD.items()))).encode(),
        written(paymentAmount=0.5),
        written(paymentAmount="999999999999999999.999999"),
        written(payeeId="Zoë Müller, 料金"),
        written(payeeId="x" * 64),
        written(payeeId="é" * 64),
        written(payeeId=""),
        written(payeeId=None, payerId="p"),
        written(device={"os": [], "v": [1, -2.5e-3, {"deep": [[None, True, False]]}], "": {}}, memo="naïve"),
    ],
)
def test_common_records_are_read(value: bytes) -> None:
    assert read(value) == [0]


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"[]",
        b"{}",
        written()[:-1],
        written() + b"x",
        written() + written(),
        b"\xef\xbb\xbf" + written(),
        written(payeeId="a\nb"),
        written(payeeId="x" * 65),
        written(payeeId="é" * 65),
        written(payeeId=-0.0),
        written(payeeId=True),
        written(payeeId="p", payerId="p"),
        written(eventTime="5"),
        written(eventTime=-5),
        written(eventTime=None),
        written(paymentAmount="1e3"),
        written(paymentAmount="1.0000000"),
        written(paymentAmount="1000000000000000000"),
        written(paymentAmount="+1"),
        written(paymentAmount="."),
        written(paymentType="csh"),
        written(paymentType=1),
        written(note="x" * 70_000),
        written(nested=[[]]).replace(b"[[]]", b"[" * 60 + b"]" * 60),
        written(other=0).replace(b'"other": 0', b'"other": 00'),
        written(other=0).replace(b'"other": 0', b'"other": 0.'),
        written(other=0).replace(b'"other": 0', b'"other": NaN'),
        written(other=0).replace(b'"other": 0', b'"other": nul'),
        written(other=0).replace(b'"other": 0', b'"other": [1,]'),
        written(other=0).replace(b'"other": 0', b'"other": {"a" 1}'),
        written(other=0).replace(b'"other": 0', b'"other": {"a":1]'),
        written(other=0).replace(b'"other": 0', b'"eventTime": 0'),
        written(other="?").replace(b"?", b"\xff"),
        written(payeeId="?").replace(b"?", b"\xc0\x80"),
    ],
)
def test_other_records_are_left_to_the_strict_parser(value: bytes | None) -> None:
    assert read(written(), value, written()) == [0, 2]


def test_values_of_records() -> None:
    values = [written(), written(payeeId="", paymentAmount=7, ingestionTimestamp=3), written(payeeId="é")]
    names = [field.name for field in load().fields]
    parsed = PARSER.read(pa.array([b"?", *values], pa.binary()).slice(1))
    first, second, third = pa.table(parsed.columns, names=names).to_pylist()
    assert first == {
        **{name: GOOD.get(name) for name in names},
        "payeeId": "25",
        "paymentAmount": Decimal("-12.300000"),
    }
    assert (second["payeeId"], second["paymentAmount"], second["ingestionTimestamp"]) == (None, Decimal(7), 3)
    assert third["payeeId"] == "é"
