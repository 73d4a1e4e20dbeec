"""Proposed mappings: what is certain is said and read back, what is not is open and refused by its name."""

from __future__ import annotations

import io
import json

import pytest

from tripline_contracts import event_type_loader
from tripline_contracts.errors import InvalidMapping, UnreadableFile
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_contracts.recordings.proposals.file_head import head_of_bytes
from tripline_contracts.recordings.proposals.preview import preview
from tripline_contracts.recordings.proposals.proposal_text import propose
from tripline_contracts.recordings.recording import open_recording
from tripline_contracts.recordings.rows import Row

TRANSACTION = event_type_loader.load()
CARD = event_type_loader.load("card-authorisation")


def proposed(content: str | bytes, changes: dict[str, str] | None = None) -> str:
    data = content.encode() if isinstance(content, str) else content
    text = propose(io.BytesIO(data), TRANSACTION)
    for before, after in (changes or {}).items():
        assert before in text, text
        text = text.replace(before, after)
    return text


def rows(content: str | bytes, text: str) -> list[object]:
    data = content.encode() if isinstance(content, str) else content
    recording = open_recording(io.BytesIO(data), TRANSACTION, read_mapping(text, TRANSACTION))
    return [dict(row.data) if isinstance(row, Row) else row.reason for row in recording.rows()]


def open_entries(text: str) -> list[str]:
    with pytest.raises(InvalidMapping) as refused:
        read_mapping(text, TRANSACTION)
    return [problem.field for problem in refused.value.problems]


NOON = 1_622_548_800_000
BANK = """Referenz;Buchungstag;Uhrzeit;Auftraggeber;Empfänger;Art;Betrag
R1;21.06.2021;14:00;Jäger;Bäckerei;CSH;1.234,56
R2;01.06.2021;14:01;Jäger;Bäckerei;CRD;-7,5
"""


def test_a_bank_s_export_lacks_its_zone_alone() -> None:
    text = proposed(BANK.encode("latin-1"))
    assert open_entries(text) == ["timeZone"]
    text = proposed(BANK.encode("latin-1"), {"timeZone:": "timeZone: Europe/Berlin"})
    assert rows(BANK.encode("latin-1"), text)[1] == {
        "transactionId": "R2", "eventTime": NOON + 60_000, "payeeId": "Jäger", "beneficiaryId": "Bäckerei",
        "paymentType": "CRD", "paymentAmount": "-7.5",
    }  # fmt: skip


def test_what_is_certain_needs_nobody() -> None:
    lines = [
        {
            "tx_id": n,
            "user": {"id": n},
            "created_at": "2021-06-01T12:00:00Z",
            "sender": "a",
            "method": "CRD",
            "amt": 5,
        }
        for n in (1, 2)
    ]
    content = "\n".join(map(json.dumps, lines))
    text = proposed(content)
    assert rows(content, text)[1] == {
        "transactionId": "2", "eventTime": NOON, "payeeId": "a", "paymentType": "CRD", "paymentAmount": 5,
    }  # fmt: skip
    assert "# Not read: user.id" in text
    assert proposed(f"[{content.replace(chr(10), ',')}]").replace("json-array", "json-lines") == text


@pytest.mark.parametrize(
    ("when", "form"),
    [
        ("1622548800", '"epoch-seconds"'),
        ("1622548800000", '"epoch-milliseconds"'),
        ("2021-06-01T14:00:00.5+02:00", '"iso-8601"'),
        ("06/21/2021 12:00:00 PM", '"%m/%d/%Y %I:%M:%S %p"'),
        ("21/06/2021 12:00", '"%d/%m/%Y %H:%M"'),
        ("21-Jun-2021 12:00", '"%d-%b-%Y %H:%M"'),
    ],
)
def test_forms_of_times_that_fit_alone(when: str, form: str) -> None:
    text = proposed(f"id,time,type,amount\n1,{when},CRD,5\n")
    assert f'eventTime: {{column: "time", form: {form}}}' in text
    assert ("timeZone:" in text) == ("%" in form)


def test_days_and_months_that_may_be_either_are_left_open() -> None:
    text = proposed("id,time,type,amount\n1,06/01/2021 12:00,CRD,5\n", {"timeZone:": "timeZone: UTC"})
    assert "form: }  # open: '06/01/2021 12:00' may be %d/%m/%Y %H:%M or %m/%d/%Y %H:%M" in text
    assert open_entries(text) == ["fields.eventTime.form"]


@pytest.mark.parametrize(
    ("amounts", "said"),
    [
        (["5", "6.25"], ""),
        (["1,234.50", "5"], 'thousands: ","\n'),
        (["7,5", "1234,56"], "decimalComma: true\n"),
        (["1.234,5", "7"], 'decimalComma: true\nthousands: "."\n'),
        (["1'234.5", "7"], 'thousands: "\'"\n'),
        (["1 234,5", "7"], 'decimalComma: true\nthousands: " "\n'),
    ],
)
def test_styles_of_numbers_that_fit_alone(amounts: list[str], said: str) -> None:
    content = "id\ttime\ttype\tamount\n" + "".join(f"1\t1622548800\tCRD\t{amount}\n" for amount in amounts)
    text = proposed(content)
    assert said + "fields:" in text
    assert not any(isinstance(row, str) for row in rows(content, text))


def test_a_comma_that_may_be_two_things_is_left_open() -> None:
    text = proposed("id;time;type;amount\n1;1622548800;CRD;1,234\n")
    assert '# open: "1,234" may be 1234 (thousands: ",") or 1.234 (decimalComma: true)' in text
    assert open_entries(text) == ["decimalComma"]


def test_what_no_column_looks_like_is_open_and_ids_are_numbers() -> None:
    text = proposed("when,who\n2021-06-01T12:00:00Z,5\n")
    assert 'transactionId: {rowNumber: "row-"}' in text
    assert open_entries(text) == [
        "fields.eventTime.column", "fields.paymentAmount.column", "fields.paymentType.column",
    ]  # fmt: skip


def test_another_event_type_has_its_own_words() -> None:
    content = (
        b"trans_num,trans_date_trans_time,cc_num,merchant,category,amt,mode\na,1622548800,7,m,fuel,5,CHIP\n"
    )
    text = propose(io.BytesIO(content), CARD)
    columns = {name: mapped.source for name, mapped in read_mapping(text, CARD).fields.items()}
    assert list(columns) == [
        "authorisationId", "authorisedAt", "cardId", "merchantId", "merchantCategory", "entryMode", "amount",
    ]  # fmt: skip


def test_without_a_header_columns_have_numbers() -> None:
    text = proposed("1622548800;25;5.5\n1622548801;26;7\n")
    assert "header: false  # likely: the first row has numbers" in text
    assert (
        "eventTime: {position: }  # open: no column looks like it; by the values it could be column 1" in text
    )
    assert (
        "paymentAmount: {position: }  # open: no column looks like it; by the values it could be column 3"
        in text
    )
    assert open_entries(text) == [
        "fields.eventTime.position", "fields.paymentAmount.position", "fields.paymentType.position",
    ]  # fmt: skip


def test_without_a_header_the_order_of_the_type_is_likely() -> None:
    content = "a,1622548800000,25,12,CSH,600\nb,1622548801000,25,,CRD,0.01\n"
    text = proposed(content)
    assert text.count("# likely: the columns are in the type's order") == 6
    assert rows(content, text)[1] == {
        "transactionId": "b", "eventTime": NOON + 1_000, "payeeId": "25", "beneficiaryId": None,
        "paymentType": "CRD", "paymentAmount": "0.01",
    }  # fmt: skip
    assert "type's order" not in proposed(content.replace("CRD", "card").replace("CSH", "cash"))


def test_a_time_of_day_beside_its_day_needs_a_header() -> None:
    text = proposed("a,21.06.2021,14:00,25,12,CSH,600\n")
    assert "columns" not in text.split("fields:")[1].replace("names alone join columns", "")
    content = "id,date,date,clock,amount,type\n1,21.06.2021,x,14:00,5,CRD\n"
    assert "fields.eventTime.position" in open_entries(proposed(content))
    content = "id,date,x,x,clock,amount,type\n1,21.06.2021,x,x,14:00,5,CRD\n"
    text = proposed(content)
    assert (
        "# open: the time of day is in column 5, and names alone join columns: give the file a header" in text
    )
    assert "fields.eventTime.form" in open_entries(text)


def test_of_two_columns_of_one_name_none_is_taken() -> None:
    content = "id,time,type,amount,amount\n1,1622548800,CRD,5,6\n"
    text = proposed(content)
    assert open_entries(text) == ["fields.paymentAmount.position"]
    assert "# open: 2 columns are called 'amount'" in text
    text = text.replace("paymentAmount: {position: }", "paymentAmount: {position: 5}")
    assert rows(content, text) == [
        {"transactionId": "1", "eventTime": NOON, "paymentType": "CRD", "paymentAmount": "6"}
    ]


def test_lines_before_the_header_are_passed_over() -> None:
    content = "Accounts of 2021\n\nid,time,type,amount\n1,1622548800,CRD,5\n"
    text = proposed(content)
    assert "skipLines: 2  # likely" in text
    assert rows(content, text) == [
        {"transactionId": "1", "eventTime": NOON, "paymentType": "CRD", "paymentAmount": "5"}
    ]


def test_few_values_that_are_none_are_told_and_left_out() -> None:
    content = "id,time,type,amount\n1,1622548800,CRD,5.5\n2,1622548800,CRD,5x\n3,soon,CRD,5\n"
    text = proposed(content)
    assert "1 of its first 3 values is no number, as '5x'" in text
    assert "1 of its first 3 values is in no form that is known, as 'soon'" in text
    head = head_of_bytes(content.encode(), is_whole=True)
    first = preview(head, TRANSACTION, read_mapping(text, TRANSACTION))
    assert ([row.line for row in first.rows], [bad.line for bad in first.refused]) == ([2], [3, 4])


def test_words_for_nothing_are_no_values() -> None:
    content = (
        "id,time,type,amount,payer\n1,1622548800,CRD,5.5,NULL\n2,1622548800,CRD,n/a,None\n3,NaN,CRD,5,a\n"
    )
    text = proposed(content)
    assert 'nulls: ["NULL", "NaN", "n/a"]  # likely: words for no value' in text
    assert "in no form" not in text
    assert rows(content, text)[0] == {
        "transactionId": "1", "eventTime": NOON, "payeeId": None, "paymentType": "CRD", "paymentAmount": "5.5",
    }  # fmt: skip
    assert "nulls" not in proposed(
        content.replace("NULL", "NA").replace("n/a", "5").replace("NaN", "1622548800")
    )


def test_how_sure_it_is_and_why() -> None:
    text = proposed("transactionId,time,type,amount\n1,1622548800,crd,5\n1,1622548801,CSH,5\n")
    assert (
        'transactionId: "transactionId"  # likely: the column has the name of the field; 1 of its first 2'
        in text
    )
    assert "# likely: 'time' is what others call it; no other form fits all values" in text
    assert 'values:  # likely: its values differ in case alone\n      "CSH": CSH\n      "crd": CRD\n' in text
    certain = proposed("transactionId,eventTime,paymentType,paymentAmount\n1,2021-06-01T12:00:00Z,CRD,5\n")
    assert "likely" not in certain
    assert "open" not in certain


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no line ends within the first 0 bytes|the file has no row"),
        (b"\n\n", "the file has no row"),
        (b"[]", "none of the first lines is a JSON object"),
        (b"{}", "none of the first lines is a JSON object"),
        (b"PAR1....", "propose-mapping"),
        (b"PK\x03\x04", "a spreadsheet is one"),
        (b"a;b,c\n1;2,3\n", "cells may be parted by a comma or a semicolon"),
    ],
)
def test_what_nothing_can_be_proposed_for(content: bytes, said: str) -> None:
    with pytest.raises(UnreadableFile, match=said):
        proposed(content)
