from __future__ import annotations

import re

import pytest
import yaml

from tripline_contracts import event_type_loader
from tripline_contracts.errors import InvalidMapping
from tripline_contracts.recordings.file_mapping import (
    Columns,
    Constant,
    Count,
    FieldMapping,
    Iso,
    Pattern,
    Position,
    RowNumber,
)
from tripline_contracts.recordings.mapping_reader import MAX_BYTES, read_mapping

TRANSACTION = event_type_loader.load()
LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(24)
)
"""A kilobyte that would be 9 to the power of 24 texts."""
FIELDS = {
    "transactionId": "id",
    "eventTime": "when",
    "paymentType": {"constant": "CRD"},
    "paymentAmount": "amount",
}


def problems(changes: dict[str, object], fields: dict[str, object] | None = None) -> list[tuple[str, str]]:
    text = yaml.safe_dump({"fields": {**FIELDS, **(fields or {})}, **changes})
    with pytest.raises(InvalidMapping) as refused:
        read_mapping(text, TRANSACTION)
    return [(problem.field, problem.message) for problem in refused.value.problems]


def test_everything_that_a_mapping_can_say() -> None:
    mapping = read_mapping(
        """
        format: csv
        delimiter: tab
        header: false
        skipLines: 2
        encoding: windows-1252
        decimalComma: true
        thousands: "'"
        timeZone: Europe/Zurich
        form: "%d.%m.%y %H:%M"
        nulls: [NA, no]
        floats: shortest
        fields:
          transactionId: {rowNumber: day-}
          eventTime: {columns: [Date, Time]}
          payerId: {position: 3}
          beneficiaryId: {constant: 010}
          paymentType: {column: Kind, values: {no: CSH, yes: CRD}}
          paymentAmount: Amount
          ingestionTimestamp: {column: Seen, form: {unit: hours, since: "2021-06-01T00:00:00Z"}}
        """,
        TRANSACTION,
    )
    assert (mapping.format, mapping.delimiter, mapping.header, mapping.skip_lines) == ("csv", "\t", False, 2)
    assert (mapping.encoding, mapping.decimal_comma, mapping.thousands) == ("windows-1252", True, "'")
    assert mapping.time_zone is not None
    assert mapping.time_zone.key == "Europe/Zurich"
    assert (mapping.nulls, mapping.shortest_floats) == (frozenset({"NA", "no"}), True)
    assert mapping.time_form == Pattern("%d.%m.%y %H:%M")
    assert mapping.fields == {
        "transactionId": FieldMapping(RowNumber("day-")),
        "eventTime": FieldMapping(Columns(("Date", "Time"))),
        "payeeId": FieldMapping(Position(3)),
        "beneficiaryId": FieldMapping(Constant("010")),
        "paymentType": FieldMapping(Columns(("Kind",)), values={"no": "CSH", "yes": "CRD"}),
        "paymentAmount": FieldMapping(Columns(("Amount",))),
        "ingestionTimestamp": FieldMapping(Columns(("Seen",)), Count(3_600_000, 1_622_505_600_000)),
    }
    assert (mapping.columns, mapping.positions) == (("Date", "Time", "Kind", "Amount", "Seen"), (3,))


def test_what_is_not_said_is_recognised_or_plain() -> None:
    mapping = read_mapping(yaml.safe_dump({"fields": FIELDS}), TRANSACTION)
    assert (mapping.format, mapping.delimiter, mapping.header, mapping.encoding) == (
        None,
        None,
        None,
        "utf-8",
    )
    assert (mapping.time_form, mapping.time_zone, mapping.thousands) == (Iso(), None, None)


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"format": "xlsx"}, "format", "expected one of 'csv', 'json-lines'"),
        ({"delimiter": ";;"}, "delimiter", "expected one character, or comma"),
        ({"header": "yes"}, "header", "expected 'true' or 'false'"),
        ({"skipLines": "-1"}, "skipLines", "expected a number of lines"),
        ({"encoding": "utf-16"}, "encoding", "expected one of 'utf-8', 'latin-1'"),
        ({"thousands": "."}, "thousands", "is the decimal sign already"),
        ({"thousands": ",", "decimalComma": "true"}, "thousands", "is the decimal sign already"),
        ({"timeZone": "CEST"}, "timeZone", "expected the name of a zone, as UTC or Europe/Berlin"),
        ({"timeZone": "../etc/passwd"}, "timeZone", "expected the name of a zone"),
        ({"timeZone": ""}, "timeZone", "expected the name of a zone"),
        ({"form": "%H:%M"}, "form", "does not say year, month and day"),
        ({"form": "%d.%m.%Q"}, "form", "can't be read as a pattern"),
        ({"form": "%d%d.%m.%Y"}, "form", "can't be read as a pattern"),
        ({"form": "epoch"}, "form", "expected epoch-seconds"),
        ({"form": {"unit": "hours", "since": "2021-06-01"}}, "form", "is not in ISO 8601 with a time of day"),
        ({"floats": "round"}, "floats", "expected 'shortest'"),
        ({"nulls": {"a": "b"}}, "nulls", "expected texts that stand for no value"),
        ({"zone": "UTC"}, "zone", "unknown; known are format"),
        (
            {"fields": "x"},
            "fields",
            "expected a mapping from fields to columns; the fields are transactionId",
        ),
    ],
)
def test_a_wrong_entry_is_named_with_what_was_expected(
    changes: dict[str, object], field: str, message: str
) -> None:
    (problem,) = problems(changes)
    assert problem[0] == field
    assert message in problem[1]


@pytest.mark.parametrize(
    ("fields", "field", "message"),
    [
        ({"amount": "x"}, "fields.amount", "unknown; the fields are"),
        ({"payeeId": "a", "payerId": "b"}, "fields.payerId", "given twice"),
        ({"payeeId": []}, "fields.payeeId", "expected a column's name"),
        ({"payeeId": {"column": "a", "constant": "b"}}, "fields.payeeId", "expected one of column"),
        ({"payeeId": {"column": "a", "zone": "b"}}, "fields.payeeId.zone", "unknown; known are column"),
        ({"payeeId": {"column": ""}}, "fields.payeeId.column", "expected the name of a column"),
        ({"payeeId": {"columns": []}}, "fields.payeeId.columns", "expected names of columns"),
        (
            {"payeeId": {"position": "0"}},
            "fields.payeeId.position",
            "expected the number of a column, from 1",
        ),
        ({"payeeId": {"rowNumber": "r"}}, "fields.payeeId.rowNumber", "only an id may be made so"),
        ({"payeeId": {"column": "a", "form": "iso-8601"}}, "fields.payeeId.form", "only times have a form"),
        ({"eventTime": {"constant": "x"}}, "fields.eventTime.constant", "never the same in every row"),
        (
            {"eventTime": {"column": "w", "form": "%Y"}},
            "fields.eventTime.form",
            "does not say year, month and day",
        ),
        ({"paymentType": {"constant": "card"}}, "fields.paymentType.constant", "expected one of CSH, CRD"),
        (
            {"paymentType": {"column": "k", "values": {"card": ""}}},
            "fields.paymentType.values.card",
            "expected one of CSH, CRD",
        ),
        (
            {"paymentAmount": {"column": "a", "values": {}}},
            "fields.paymentAmount.values",
            "only enums and texts",
        ),
        (
            {"payeeId": {"column": "k", "values": "x"}},
            "fields.payeeId.values",
            "expected a mapping from what the file",
        ),
    ],
)
def test_a_wrong_field_is_named_with_what_was_expected(
    fields: dict[str, object], field: str, message: str
) -> None:
    (problem,) = problems({}, fields)
    assert problem[0] == field
    assert message in problem[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fields: {transactionId: a, transactionId: b}", "'transactionId' is given twice"),
        ("fields: [", "not YAML"),
        ("- a", "expected a mapping with format"),
        ("", "expected a mapping with format"),
        ("a: \x00", "not YAML"),
        ("[" * 10_000, "not YAML"),
        ("#" * (MAX_BYTES + 1), "longer than"),
        ("? [a]\n: b", "a key is no text"),
        (LAUGHS + "? *y\n: b", "a key is no text"),
        ("!!python/object/apply:os.system [ls]", "expected a mapping with format"),
    ],
)
def test_what_is_no_mapping_is_said(text: str, message: str) -> None:
    with pytest.raises(InvalidMapping, match=re.escape(message)):
        read_mapping(text, TRANSACTION)


def test_all_problems_come_at_once_and_a_required_field_is_missed() -> None:
    with pytest.raises(InvalidMapping) as refused:
        read_mapping("encoding: x\nfields: {payeeId: {}}", TRANSACTION)
    assert [problem.field for problem in refused.value.problems] == [
        "fields.payeeId", "fields.transactionId", "fields.eventTime", "fields.paymentAmount", "fields.paymentType",
        "encoding",
    ]  # fmt: skip
