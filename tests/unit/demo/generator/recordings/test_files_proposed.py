"""Files as other systems write them: the proposal, with what it leaves open filled in, reads the rows that a mapping
by hand reads; or it says what it cannot know."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping

import pytest

from tests.unit.demo.generator.recordings.test_files_as_found import (
    FOUND,
    NOON,
    OUR_ROWS,
    TRANSACTION,
    Found,
    one,
)
from tripline_contracts.errors import InvalidMapping, UnreadableFile
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_contracts.recordings.proposals.proposal_text import propose
from tripline_demo.generator.recordings.parquet_rows import parquet_rows
from tripline_demo.generator.recordings.recording import Line, lines_of, opened

ZONE = {"timeZone": "UTC"}
WHEN = {"fields.eventTime.column": "when", "fields.paymentType": "{constant: CRD}"}
BANK = {"timeZone": "Europe/Berlin", '"Bar"': "CSH", '"Karte"': "CRD"}

OPEN: dict[str, Mapping[str, str]] = {
    "as ours, CRLF": ZONE,
    "CR alone, as old Macs have it": ZONE,
    "line ends of all kinds, none at the end": ZONE,
    "a byte order mark": ZONE,
    "gzip, in two members": ZONE,
    "zstd, in two frames": ZONE,
    "gzip that is cut off": ZONE,
    "columns in another order, and more of them": {},
    "tabs, and a mark of the spreadsheet's": ZONE,
    "no header": ZONE,
    "quotes with line breaks and delimiters in them": ZONE,
    "a quote that is never closed": ZONE,
    "a bank's export, Latin-1": BANK,
    "the same, packed, with a title and a total": BANK,
    "Latin-1 that nobody told": ZONE,
    "epoch seconds, with a fraction": WHEN | {"form": "epoch-seconds"},
    "epoch milliseconds": WHEN | {"form": "epoch-milliseconds"},
    "seconds or milliseconds, nobody says": {"form": "epoch-milliseconds"},
    "ISO 8601 with zones, and microseconds": WHEN,
    "local times, where clocks change": WHEN | {"zone": "Europe/Berlin"},
    "days and months that only a pattern tells apart": WHEN | {"form": '"%m/%d/%Y %H:%M"', "zone": "UTC"},
    "days and months that nobody tells apart": WHEN,
    "amounts that may be two": WHEN,
    "thousands when told, and misplaced ones": WHEN,
    "a point under a decimal comma": WHEN | {"decimalComma": "true"},
    "no header, by position, constants and numbers for ids": {
        "fields.eventTime.position": "1", "form": "epoch-seconds", "fields.paymentType": "{constant: CRD}",
        "fields.paymentAmount.position": "3", "more": "  payeeId: {position: 2}", '"row-"': '"day-"',
    },
    "words for nothing, and a value without translation": {
        "fields.eventTime.column": "when", '"card"': "CRD", '"wire"': "", "zone": "UTC",
    },
    "rows with too few and too many cells": ZONE,
    "JSON lines, a broken one among them": {},
    "a JSON array, written for people, packed": {},
    "a JSON array that is cut off": {},
    "JSON with members of members": WHEN | {
        "fields.eventTime.column": "when.at", "fields.paymentAmount.column": "amount.value",
    },
    "Parquet with decimals and a zone": {},
    "Parquet with local times in ns and binary numbers": WHEN | {"zone": "Europe/Berlin"},
    "Parquet with binary numbers that nobody told": WHEN,
}  # fmt: skip
"""What a person answers to what is open, by the entry."""

OTHERWISE: dict[str, Mapping[str, object]] = {
    # the proposal knows more than a file without a mapping says, or what the other mapping says wrongly
    "Latin-1 that nobody told": {"rows": [("a", NOON, "Jäger", "12", "CSH", "600"), OUR_ROWS[1]], "bad": {}},
    "seconds or milliseconds, nobody says": {
        "rows": [OUR_ROWS[0], ("b", 1_622_548_801, "25", None, "CRD", "0.01")], "bad": {},
    },
    "a byte order mark": {},
    "amounts that may be two": {
        "rows": [one(amount="1.234"), one(identity="b", amount="1234.5"), one(identity="c")], "bad": {},
    },
    "Parquet with binary numbers that nobody told": {"rows": [one(amount="0.1")], "bad": {}},
}  # fmt: skip

UNKNOWABLE = {
    "zstd that is cut off": "the zstd file is cut off here",
    "a spreadsheet": "a zip archive",
    "UTF-16": "text in UTF-16",
    "XML": "XML or HTML",
    "Parquet in gzip": "Parquet inside of gzip or zstd",
    "Parquet that is none": "Parquet that cannot be read",
    "nothing at all": "the file has no row",
}
LEFT_OPEN = {
    "a column that the mapping names and the file has not": {"fields.eventTime.column", "fields.paymentType.column"},
    "a header without a required field": {"fields.eventTime.form", "fields.paymentType.column"},
    "a header with a column twice": {
        "fields.eventTime.position", "fields.paymentAmount.position", "fields.paymentType.position",
    },
}  # fmt: skip


def filled(text: str, answers: Mapping[str, str]) -> str:
    """The proposal with what somebody says to it."""
    for entry, answer in answers.items():
        path = entry.split(".")
        if entry in ("timeZone", "decimalComma"):
            text, count = re.subn(rf"^{entry}:  # open", f"{entry}: {answer}  #", text, flags=re.MULTILINE)
        elif entry.startswith('"'):
            text, count = (
                text.replace(f"{entry}:", f"{entry}: {answer}").replace(f"{entry}}}", f"{answer}}}"),
                1,
            )
        elif entry in ("zone", "form"):
            name = "timeZone" if entry == "zone" else entry
            text, count = f"{name}: {answer}\n{text}".replace("form: }", "}"), 1
        elif entry == "more":
            text, count = f"{text}{answer}\n", 1
        elif len(path) == 2:
            text, count = re.subn(rf"{path[1]}: {{(column|position): }}", f"{path[1]}: {answer}", text)
        else:
            text, count = re.subn(rf"{path[1]}: {{{path[2]}: }}", f"{path[1]}: {{{path[2]}: {answer}}}", text)
        assert count == 1, (entry, text)
    return text


@pytest.mark.parametrize("name", OPEN)
def test_the_proposal_reads_it_once_it_is_filled_in(name: str) -> None:
    file = FOUND[name]
    text = propose(io.BytesIO(file.content), TRANSACTION, parquet_rows)
    if OPEN[name]:
        text = filled(text, OPEN[name])
    if name == "words for nothing, and a value without translation":
        # what nobody translates is no value: its line alone is refused
        text = re.sub(r'^ *"wire": *\n', "", text, flags=re.MULTILINE)
    mapping = read_mapping(text, TRANSACTION)
    items = list(lines_of(opened(io.BytesIO(file.content), TRANSACTION, mapping), TRANSACTION))
    named = ("transactionId", "eventTime", "payeeId", "beneficiaryId", "paymentType", "paymentAmount")
    rows = [tuple(item.transaction[name] for name in named) for item in items if isinstance(item, Line)]
    bad = {item.line: item.reason for item in items if not isinstance(item, Line)}
    expected = OTHERWISE.get(name, {})
    assert rows == expected.get("rows", file.rows), text
    assert bad.keys() == expected.get("bad", file.bad).keys(), (text, bad)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", UNKNOWABLE)
def test_it_says_why_nothing_can_be_proposed(name: str) -> None:
    with pytest.raises(UnreadableFile, match=UNKNOWABLE[name]):
        propose(io.BytesIO(FOUND[name].content), TRANSACTION, parquet_rows)


@pytest.mark.parametrize("name", LEFT_OPEN)
def test_it_says_what_it_cannot_know(name: str) -> None:
    text = propose(io.BytesIO(FOUND[name].content), TRANSACTION, parquet_rows)
    with pytest.raises(InvalidMapping) as refused:
        read_mapping(text, TRANSACTION)
    assert {problem.field for problem in refused.value.problems} == LEFT_OPEN[name]


def test_each_file_is_judged() -> None:
    assert OPEN.keys() | UNKNOWABLE.keys() | LEFT_OPEN.keys() == FOUND.keys()
    assert isinstance(FOUND["no header"], Found)
