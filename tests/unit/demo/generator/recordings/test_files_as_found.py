"""Files as other systems write them: each gives the right rows, or a sentence that says what to do."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from tripline_contracts import event_type_loader
from tripline_contracts.errors import UnreadableFile
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_demo.generator.recordings.recording import Line, lines_of, opened

TRANSACTION = event_type_loader.load()
NOON = 1_622_548_800_000
"""2021-06-01T12:00:00Z"""

HEADER = "transactionId,eventTime,payeeId,beneficiaryId,paymentType,paymentAmount"
OURS = f"{HEADER}\na,2021-06-01 12:00:00,25,12,CSH,600\nb,2021-06-01 12:00:01,25,,CRD,0.01\n".encode()
OUR_ROWS = [("a", NOON, "25", "12", "CSH", "600"), ("b", NOON + 1_000, "25", None, "CRD", "0.01")]

BANK = """\
timeZone: Europe/Berlin
form: "%d.%m.%Y %H:%M"
decimalComma: true
thousands: "."
fields:
  transactionId: Referenz
  eventTime: {columns: [Buchungstag, Uhrzeit]}
  payeeId: Auftraggeber
  beneficiaryId: Empfänger
  paymentType: {column: Art, values: {Bar: CSH, Karte: CRD}}
  paymentAmount: Betrag
"""
BANK_FILE = (
    "Referenz;Buchungstag;Uhrzeit;Auftraggeber;Empfänger;Art;Betrag\r\n"
    "R1;01.06.2021;14:00;Jäger;Bäckerei;Bar;1.234,56\r\n"
    "R2;01.06.2021;14:01;Jäger;Bäckerei;Karte;-7,5\r\n"
)
BANK_ROWS = [
    ("R1", NOON, "Jäger", "Bäckerei", "CSH", "1234.56"),
    ("R2", NOON + 60_000, "Jäger", "Bäckerei", "CRD", "-7.5"),
]

SIMPLE = """\
fields:
  transactionId: id
  eventTime: {column: when%s}
  payeeId: from
  paymentType: {constant: CRD}
  paymentAmount: amount
"""


@dataclass(frozen=True)
class Found:
    """A file, its mapping, and what comes of it.

    :ivar rows: (id, time, payer, beneficiary, type, amount)
    :ivar bad: by line a part of the reason
    :ivar refused: a part of the sentence, where nothing can be read
    """

    content: bytes
    mapping: str | None = None
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    bad: Mapping[int, str] = field(default_factory=dict)
    refused: str | None = None


def simple(*lines: str, form: str = "", options: str = "") -> tuple[bytes, str]:
    """A file of four columns, and its mapping."""
    said = f", form: {form}" if form else ""
    return "\n".join(("id,when,from,amount", *lines)).encode(), SIMPLE % said + options


def one(time: int = NOON, amount: str = "5", identity: str = "a") -> tuple[Any, ...]:
    return (identity, time, "25", None, "CRD", amount)


def parquet(
    columns: Mapping[str, Any], mapping: str | None = None, **options: Any
) -> tuple[bytes, str | None]:
    file = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), file, **options)
    return file.getvalue(), mapping


MOMENT = datetime(2021, 6, 1, 12, tzinfo=UTC)
JSON_ROW = (
    '{"transactionId":"a","eventTime":1622548800000,"payeeId":25,"paymentType":"CRD","paymentAmount":5.0}'
)

FOUND: dict[str, Found] = {
    "as ours, CRLF": Found(OURS.replace(b"\n", b"\r\n"), rows=OUR_ROWS),
    "CR alone, as old Macs have it": Found(OURS.replace(b"\n", b"\r"), rows=OUR_ROWS),
    "line ends of all kinds, none at the end": Found(OURS.replace(b"\n", b"\r\n", 1).rstrip(), rows=OUR_ROWS),
    "a byte order mark": Found(b"\xef\xbb\xbf" + OURS, rows=OUR_ROWS),
    "gzip, in two members": Found(gzip.compress(OURS[:100]) + gzip.compress(OURS[100:]), rows=OUR_ROWS),
    "zstd, in two frames": Found(zstandard.compress(OURS[:100]) + zstandard.compress(OURS[100:]), rows=OUR_ROWS),
    "gzip that is cut off": Found(gzip.compress(OURS)[:-8], rows=OUR_ROWS, bad={4: "the gzip file is cut off"}),
    "zstd that is cut off": Found(zstandard.compress(OURS)[:-4], refused="the zstd file is cut off"),
    "columns in another order, and more of them": Found(
        b"PAYMENTAMOUNT,note,PaymentType,transactionId,payerId,eventTime\n5,x,CRD,a,25,2021-06-01T14:00:00+02:00\n",
        rows=[one()],
    ),
    "tabs, and a mark of the spreadsheet's": Found(
        b"sep=\t\n" + OURS.replace(b",", b"\t").replace(b"\n", b"\t\n"), rows=OUR_ROWS
    ),
    "no header": Found(OURS.split(b"\n", 1)[1], rows=OUR_ROWS),
    "quotes with line breaks and delimiters in them": Found(
        f'{HEADER}\na,2021-06-01 12:00:00,"Smith, ""Jo""\r\nLtd",12,CSH,600\n'
        "b,2021-06-01 12:00:00,1,1,CSH,1\n".encode(),
        rows=[("a", NOON, 'Smith, "Jo"\r\nLtd', "12", "CSH", "600"), ("b", NOON, "1", "1", "CSH", "1")],
    ),
    "a quote that is never closed": Found(
        f'{HEADER}\na,2021-06-01 12:00:00,"25,12,CSH,600\nb,2021-06-01 12:00:00,1,1,CSH,1\n'.encode(),
        rows=[("b", NOON, "1", "1", "CSH", "1")],
        bad={2: "a quote that is opened is not closed"},
    ),
    "a bank's export, Latin-1": Found(BANK_FILE.encode("latin-1"), f"encoding: latin-1\n{BANK}", BANK_ROWS),
    "the same, packed, with a title and a total": Found(
        gzip.compress(f"Kontoauszug\r\n\r\n{BANK_FILE}Summe;;;;;;1.227,06\r\n".encode("cp1252")),
        f"encoding: windows-1252\nskipLines: 1\n{BANK}",
        BANK_ROWS,
        {6: "eventTime: required"},
    ),
    "Latin-1 that nobody told": Found(
        OURS.replace(b"25,12", "Jäger,12".encode("latin-1")), rows=OUR_ROWS[1:], bad={2: "`encoding: latin-1`"}
    ),
    "epoch seconds, with a fraction": Found(
        *simple("a,1622548800.5,25,5", "b,soon,25,5", form="epoch-seconds"),
        [one(NOON + 500)],
        {3: "'soon' is not a count"},
    ),
    "epoch milliseconds": Found(*simple("a,1622548800000,25,5", form="epoch-milliseconds"), [one()]),
    "seconds or milliseconds, nobody says": Found(
        f"{HEADER}\na,1622548800000,25,12,CSH,600\nb,1622548801,25,,CRD,0.01\n".encode(),
        rows=OUR_ROWS[:1],
        bad={3: "may be seconds or milliseconds; the mapping has to say which"},
    ),
    "ISO 8601 with zones, and microseconds": Found(
        *simple("a,2021-06-01T12:00:00.123456Z,25,5", "b,2021-06-01 17:30:00+0530,25,5", "c,2021-06-01T12:00,25,5"),
        [one(NOON + 123), one(identity="b")],
        {4: "has no zone; the mapping has to say which clock"},
    ),
    "local times, where clocks change": Found(
        *simple(
            "a,2021-06-01T14:00:00,25,5", "b,2021-10-31T02:30:00,25,5", "c,2021-03-28T02:30:00,25,5",
            options="timeZone: Europe/Berlin",
        ),
        [one()],
        {3: "is there twice in Europe/Berlin", 4: "is skipped in Europe/Berlin"},
    ),
    "days and months that only a pattern tells apart": Found(
        *simple("a,06/01/2021 12:00,25,5", "b,13/01/2021 12:00,25,5", form='"%m/%d/%Y %H:%M"', options="timeZone: UTC"),
        [one()],
        {3: "is not of the form %m/%d/%Y"},
    ),
    "days and months that nobody tells apart": Found(
        *simple("a,06/01/2021 12:00,25,5"), bad={2: "is not in ISO 8601 with a time of day"}
    ),
    "amounts that may be two": Found(
        *simple(
            'a,2021-06-01T12:00:00Z,25,"1,234"', 'b,2021-06-01T12:00:00Z,25,"1.234,50"', "c,2021-06-01T12:00:00Z,25,5",
        ),
        [one(identity="c")],
        {2: "has a comma, which may stand between thousands or before the decimals", 3: "has a comma"},
    ),
    "thousands when told, and misplaced ones": Found(
        *simple(
            'a,2021-06-01T12:00:00Z,25,"1,234.5"', 'b,2021-06-01T12:00:00Z,25,"12,34.5"', options='thousands: ","'
        ),
        [one(amount="1234.5")],
        {3: "does not have ',' between thousands"},
    ),
    "a point under a decimal comma": Found(
        *simple("a,2021-06-01T12:00:00Z,25,1.234", options="decimalComma: true"),
        bad={2: "has a point, which may stand"},
    ),
    "no header, by position, constants and numbers for ids": Found(
        b"1622548800;25;5\n",
        "fields:\n  transactionId: {rowNumber: day-}\n  eventTime: {position: 1, form: epoch-seconds}\n"
        "  payeeId: {position: 2}\n  paymentType: {constant: CRD}\n  paymentAmount: {position: 3}\n",
        [("day-1", NOON, "25", None, "CRD", "5")],
    ),
    "words for nothing, and a value without translation": Found(
        b"id|when|from|kind|amount\na|2021-06-01T12:00:00Z|NULL|card|5\nb|2021-06-01T12:00:00Z|25|wire|5\n",
        "nulls: [NULL]\nfields:\n  transactionId: id\n  eventTime: when\n  payeeId: from\n"
        "  paymentType: {column: kind, values: {card: CRD}}\n  paymentAmount: amount\n",
        [("a", NOON, None, None, "CRD", "5")],
        {3: "'wire' has no translation; `values` has card"},
    ),
    "rows with too few and too many cells": Found(
        f"{HEADER}\na,2021-06-01 12:00:00,25,12,CSH\na,2021-06-01 12:00:00,25,12,CSH,600,1,2\n".encode() + OURS[72:],
        rows=OUR_ROWS,
        bad={2: "expected 6 or 7 fields, found 5", 3: "expected 6 or 7 fields, found 8"},
    ),
    "JSON lines, a broken one among them": Found(
        f'{JSON_ROW}\n\n{{"transactionId":\n[]\n{JSON_ROW.replace("5.0", "1e999999999")}\n'.encode(),
        rows=[one()],
        bad={3: "not JSON", 4: "expected a JSON object", 5: "paymentAmount"},
    ),
    "a JSON array, written for people, packed": Found(
        zstandard.compress(f'[\n  {JSON_ROW},\n  {{"a": [1, "]\\"" }},\n  {JSON_ROW}\n]\n'.encode()),
        rows=[one(), one()],
        bad={3: "not JSON"},
    ),
    "a JSON array that is cut off": Found(
        f"[{JSON_ROW},\n{JSON_ROW[:40]}".encode(), rows=[one()], bad={2: "the array is not closed"}
    ),
    "JSON with members of members": Found(
        b'{"id":7,"when":{"at":"2021-06-01T12:00:00Z"},"from":25,"amount":{"value":"5.00"}}\n',
        (SIMPLE % "").replace("when", "when.at").replace(": amount", ": amount.value"),
        [one(identity="7")],
    ),
    "Parquet with decimals and a zone": Found(
        *parquet({
            "transactionId": ["a"], "eventTime": pa.array([MOMENT], pa.timestamp("us", "Europe/Berlin")),
            "payerId": pa.array(["25"]).dictionary_encode(), "paymentType": ["CRD"],
            "paymentAmount": [Decimal("5.00")], "note": [1],
        }),
        rows=[one()],
    ),
    "Parquet with local times in ns and binary numbers": Found(
        *parquet(
            {
                "id": [1], "when": pa.array([NOON * 10**6 + 7_200 * 10**9 + 999], pa.timestamp("ns")), "from": [25],
                "amount": [0.1],
            },
            SIMPLE % "" + "timeZone: Europe/Berlin\nfloats: shortest\n",
            compression="zstd",
        ),
        [one(identity="1", amount="0.1")],
    ),
    "Parquet with binary numbers that nobody told": Found(
        *parquet({"id": ["a"], "when": [MOMENT], "from": ["25"], "amount": [0.1]}, SIMPLE % ""),
        bad={1: "0.1 is a binary floating-point number"},
    ),
    "a column that the mapping names and the file has not": Found(
        b"id,when,who,amount\na,2021-06-01T12:00:00Z,25,5\n",
        SIMPLE % "",
        refused="the header has no column 'from'; it has 'id', 'when', 'who', 'amount'",
    ),
    "a header without a required field": Found(
        b"transactionId,time,amount\n1,2,3\n", refused="no column for eventTime, paymentAmount, paymentType; it has"
    ),
    "a header with a column twice": Found(
        b"id,when,from,amount,amount\n1,2,3,4,5\n", SIMPLE % "", refused="the header has 2 columns 'amount'"
    ),
    "a spreadsheet": Found(b"PK\x03\x04rest", refused="a zip archive, as a spreadsheet is one"),
    "UTF-16": Found(OURS.decode().encode("utf-16"), refused="text in UTF-16; expected UTF-8"),
    "XML": Found(b"<?xml version='1.0'?><a/>", refused="XML or HTML"),
    "Parquet in gzip": Found(gzip.compress(b"PAR1abc"), refused="Parquet inside of gzip or zstd"),
    "Parquet that is none": Found(b"PAR1abc", refused="Parquet that cannot be read"),
    "nothing at all": Found(b""),
}  # fmt: skip


@pytest.mark.parametrize("file", FOUND.values(), ids=FOUND.keys())
def test_it_gives_the_right_rows_or_a_sentence(file: Found) -> None:
    mapping = None if file.mapping is None else read_mapping(file.mapping, TRANSACTION)
    if file.refused is not None:
        with pytest.raises(UnreadableFile, match=re.escape(file.refused)):
            opened(io.BytesIO(file.content), TRANSACTION, mapping)
        return
    items = list(lines_of(opened(io.BytesIO(file.content), TRANSACTION, mapping), TRANSACTION))
    named = ("transactionId", "eventTime", "payeeId", "beneficiaryId", "paymentType", "paymentAmount")
    rows = [tuple(item.transaction[name] for name in named) for item in items if isinstance(item, Line)]
    bad = {item.line: item.reason for item in items if not isinstance(item, Line)}
    assert rows == file.rows
    assert bad.keys() == file.bad.keys(), bad
    for line, reason in file.bad.items():
        assert reason in bad[line]


def test_there_are_thirty_of_them_at_least() -> None:
    assert len(FOUND) >= 30


def test_a_large_file_that_is_cut_off_gives_what_comes_before() -> None:
    lines = b"".join(b"%d,2021-06-01 12:00:00,%d,12,CSH,600\n" % (n, n * n) for n in range(50_000))
    whole = gzip.compress(lines, 1)
    items = list(lines_of(opened(io.BytesIO(whole[: len(whole) // 2]), TRANSACTION), TRANSACTION))
    assert 10_000 < len(items) < 40_000
    assert [item.line for item in items if not isinstance(item, Line)] == [len(items)]
