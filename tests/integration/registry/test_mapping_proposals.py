"""Mappings of files over HTTP: proposed from first bytes, tried on them, and nothing kept."""

from __future__ import annotations

import base64
import gzip
from typing import Any

import httpx
import pytest

from rules_registry.api.mappings.mapping_body import MAX_LETTERS, MAX_MAPPING
from tests.registry import RegistryApi

pytestmark = pytest.mark.integration

PATH = "/v1/mapping-proposals"
BANK = (
    "Referenz;Datum;Auftraggeber;Art;Betrag\n"
    "R1;01.06.2021 14:00;Jäger;Bar;1.234,56\n"
    "R2;21.06.2021 14:01;Jäger;Karte;-7,5\n"
    "Summe;;;;1.227,06\n"
).encode("latin-1")


def sent(data: bytes, *, is_whole: bool = True, mapping: str | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {"head": base64.b64encode(data).decode(), "isWhole": is_whole}
    return body if mapping is None else {**body, "mapping": mapping}


def test_a_proposal_its_gaps_and_what_it_reads(client: httpx.Client) -> None:
    answer = client.post(PATH, json=sent(gzip.compress(BANK))).raise_for_status().json()
    proposal = answer["proposal"]
    told = ("format", "packing", "encoding", "delimiter", "hasHeader", "skippedLines", "needsTimeZone")
    assert [proposal[name] for name in told] == ["csv", "gzip", "latin-1", ";", True, 0, True]
    assert proposal["columns"][2] == {
        "name": "Auftraggeber",
        "heading": "Auftraggeber",
        "examples": ["Jäger"],
    }
    fields = {one["field"]: one for one in proposal["fields"]}
    assert (fields["eventTime"]["sure"], fields["eventTime"]["forms"]) == ("likely", ["%d.%m.%Y %H:%M"])
    assert (fields["paymentType"]["sure"], fields["paymentType"]["values"]) == (
        "open", [{"said": "Bar", "means": None}, {"said": "Karte", "means": None}],
    )  # fmt: skip
    assert [style["meaning"] for style in proposal["numbers"]] == [
        '1234.56 (decimalComma: true and thousands: ".")'
    ]
    assert answer["firstRows"] is None
    assert [one["field"] for one in answer["problems"]] == [
        "timeZone", "fields.paymentType.values.Bar", "fields.paymentType.values.Karte",
    ]  # fmt: skip

    filled = answer["mapping"].replace("timeZone:", "timeZone: Europe/Berlin")
    filled = filled.replace('"Bar":', '"Bar": CSH').replace('"Karte":', '"Karte": CRD')
    answer = client.post(PATH, json=sent(BANK, mapping=filled)).raise_for_status().json()
    assert (answer["proposal"], answer["mapping"], answer["problems"]) == (None, filled, [])
    first = answer["firstRows"]
    assert [row["values"]["paymentAmount"] for row in first["rows"]] == ["1234.56", "-7.5"]
    assert first["rows"][0]["values"]["eventTime"] == 1_622_548_800_000
    assert [(bad["line"], bad["reason"]) for bad in first["refused"]] == [
        (4, "eventTime: required; paymentType: required")
    ]
    assert (first["read"], first["bad"], first["ends"]) == (2, 1, True)


def test_a_mapping_that_does_not_fit_says_so(client: httpx.Client) -> None:
    mapping = "fields: {transactionId: Nummer, eventTime: Datum, paymentType: {constant: CRD}, paymentAmount: Betrag}"
    answer = client.post(PATH, json=sent(BANK, mapping=mapping)).raise_for_status().json()
    assert [(one["field"], one["message"][:34]) for one in answer["problems"]] == [
        ("", "the header has no column 'Nummer';")
    ]


def test_what_is_no_file_is_refused(client: httpx.Client) -> None:
    for data, said in (
        (b"PK\x03\x04", "a spreadsheet is one"),
        (b"PAR1", "propose-mapping"),
        (b"", "no row"),
    ):
        refused = client.post(PATH, json=sent(data))
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "head")
        assert said in refused.json()["errors"][0]["message"]


def test_a_wrong_body_names_its_fields(client: httpx.Client) -> None:
    refused = client.post(PATH, json={"head": "a===", "isWhole": 1, "mapping": 5, "more": 1})
    assert [one["field"] for one in refused.json()["errors"]] == ["more", "head", "isWhole", "mapping"]
    longest = {"head": "A" * MAX_LETTERS, "isWhole": False, "mapping": "\x01" * MAX_MAPPING}
    assert client.post(PATH, json=longest).status_code == 422
    too_long = client.post(PATH, json={**longest, "head": "A" * (MAX_LETTERS + 4)})
    assert (too_long.status_code, too_long.json()["errors"][0]["field"]) == (422, "head")
    assert client.post(PATH, json={**longest, "head": "A" * 2 * MAX_LETTERS}).status_code == 413


def test_who_only_reads_may_not(api: RegistryApi) -> None:
    with api.client("viewer-key-for-tests") as viewer:
        assert viewer.post(PATH, json=sent(BANK)).status_code == 403
