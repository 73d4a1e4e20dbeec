"""Event types: the shipped one, and files that contradict themselves."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tripline_contracts import event_type
from tripline_contracts.errors import InvalidEventType, UnknownEventType, UnknownField

TRANSACTION = event_type.load()

SWIPE: dict[str, Any] = {
    "name": "swipe",
    "version": 1,
    "anchors": ["card", "global"],
    "fields": [
        {"name": "id", "role": "id", "kind": "string", "required": True, "maxLength": 36},
        {"name": "at", "role": "time", "kind": "timestamp", "required": True},
        {"name": "card", "role": "key", "kind": "string", "maxLength": 19, "aliases": ["pan"]},
        {"name": "outcome", "role": "attribute", "kind": "enum", "values": ["ok", "refused"]},
        {"name": "amount", "role": "measure", "kind": "decimal"},
    ],
}


def test_the_transaction() -> None:
    assert [field.name for field in TRANSACTION.fields] == [
        "transactionId",
        "eventTime",
        "payeeId",
        "beneficiaryId",
        "paymentAmount",
        "paymentType",
        "ingestionTimestamp",
    ]
    assert TRANSACTION.anchors == ("payeeId", "beneficiaryId", "global")
    assert TRANSACTION.id_field.name == "transactionId"
    assert TRANSACTION.time_field.name == "eventTime"
    assert TRANSACTION.ingestion_field is TRANSACTION.field("ingestionTimestamp")
    assert TRANSACTION.groupable == ("payeeId", "beneficiaryId", "paymentAmount", "paymentType")
    assert TRANSACTION.measures == ("paymentAmount",)
    assert TRANSACTION.field("payerId") is TRANSACTION.field("payeeId")
    assert TRANSACTION.field("paymentType").values == ("CSH", "CRD")
    assert {field.name for field in TRANSACTION.fields if field.max_length} == {
        "transactionId",
        "payeeId",
        "beneficiaryId",
    }


def test_names_are_exact_in_events_and_lenient_in_rules() -> None:
    with pytest.raises(UnknownField, match="payeeid"):
        TRANSACTION.field("payeeid")
    assert TRANSACTION.find("PAYERID") is TRANSACTION.field("payeeId")
    assert TRANSACTION.find("iban") is None


@pytest.mark.parametrize("name", ["swipe", "../topics/rules.v1", ""])
def test_unknown(name: str) -> None:
    with pytest.raises(UnknownEventType):
        event_type.load(name)


def test_a_type_of_one_s_own() -> None:
    swipe = event_type.from_mapping(SWIPE)
    assert swipe.groupable == ("card", "outcome", "amount")
    assert swipe.ingestion_field is None
    assert swipe.field("pan").name == "card"


def _changed(path: tuple[Any, ...], value: object) -> dict[str, Any]:
    data: Any = copy.deepcopy(SWIPE)
    place = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return dict(data)


CONTRADICTIONS: list[tuple[tuple[Any, ...], object, str, str]] = [
    (("name",), "", "a name and a version", "no name"),
    (("version",), 0, "a name and a version", "versions start with 1"),
    (("owner",), "me", "unknown owner", "an unknown word"),
    (("fields",), {}, "a list of fields", "fields that are no list"),
    (("fields", 2), "card", "a field with a name", "a field that is no mapping"),
    (("fields", 2, "role"), "thing", "a role of", "an unknown role"),
    (("fields", 2, "colour"), "red", "unknown colour", "an unknown word of a field"),
    (("fields", 2, "required"), "yes", "true or false", "a text for a truth"),
    (("fields", 2, "maxLength"), 0, "maxLength", "a string of no length"),
    (("fields", 1, "maxLength"), 5, "maxLength", "a timestamp with a length"),
    (("fields", 3, "values"), [], "an enum", "an enum of nothing"),
    (("fields", 3, "values"), ["ok", "ok"], "twice", "a value twice"),
    (("fields", 2, "aliases"), "pan", "a list of names", "aliases that are no list"),
    (("fields", 2, "aliases"), ["AMOUNT"], "share a name", "an alias that is another field in capitals"),
    (("fields", 0, "required"), False, "id field", "an id that may be missing"),
    (("fields", 2, "role"), "id", "id field", "two ids"),
    (("fields", 1, "role"), "attribute", "time field", "no time"),
    (("fields", 4, "kind"), "timestamp", "measure is a decimal", "a time to be summed"),
    (("fields", 2, "ingestion"), True, "ingestion field", "an ingestion time that is no time"),
    (("anchors",), ["card"], "last anchor is global", "no anchor for the other rules"),
    (("anchors",), ["at", "global"], "cannot group by: at", "an anchor that is no key"),
]


@pytest.mark.parametrize(
    ("path", "value", "said", "reason"), CONTRADICTIONS, ids=[case[-1] for case in CONTRADICTIONS]
)
def test_contradictions(path: tuple[Any, ...], value: object, said: str, reason: str) -> None:
    with pytest.raises(InvalidEventType) as refused:
        event_type.from_mapping(_changed(path, value))
    assert said in str(refused.value), reason
