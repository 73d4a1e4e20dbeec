"""Event types: those that ship, and files that contradict themselves."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tripline_contracts import event_type_loader
from tripline_contracts.errors import InvalidEventType, UnknownEventType, UnknownField

TRANSACTION = event_type_loader.load()

SWIPE: dict[str, Any] = {
    "name": "swipe",
    "version": 1,
    "anchors": ["card", "global"],
    "fields": [
        {"name": "id", "role": "id", "kind": "string", "required": True, "maxLength": 36},
        {"name": "at", "role": "time", "kind": "timestamp", "required": True},
        {"name": "card", "role": "key", "kind": "string", "maxLength": 19, "aliases": ["pan"]},
        {"name": "outcome", "role": "attribute", "kind": "enum", "values": ["ok", "refused"]},
        {"name": "amount", "role": "measure", "kind": "decimal", "required": True},
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


def test_the_card_authorisation() -> None:
    card = event_type_loader.load("card-authorisation")
    assert [(field.name, field.role, field.kind) for field in card.fields] == [
        ("authorisationId", "id", "string"),
        ("authorisedAt", "time", "timestamp"),
        ("cardId", "key", "string"),
        ("merchantId", "key", "string"),
        ("deviceId", "key", "string"),
        ("merchantCategory", "key", "string"),
        ("entryMode", "key", "enum"),
        ("amount", "measure", "decimal"),
        ("ingestionTimestamp", "time", "timestamp"),
    ]
    assert card.anchors == ("cardId", "merchantId", "global")
    assert [field.name for field in card.fields if not field.required] == ["deviceId", "ingestionTimestamp"]
    assert card.field("entryMode").values == ("CHIP", "CONTACTLESS", "ONLINE", "SWIPE")
    assert (card.noun, card.plural) == ("authorisation", "authorisations")


def test_the_activity() -> None:
    activity = event_type_loader.load("activity")
    assert [(field.name, field.role, field.kind, field.required) for field in activity.fields] == [
        ("activityId", "id", "string", True),
        ("happenedAt", "time", "timestamp", True),
        ("accountId", "key", "string", True),
        ("kind", "key", "enum", True),
        ("logInResult", "key", "enum", False),
        ("profilePart", "key", "enum", False),
        ("beneficiaryId", "key", "string", False),
        ("deviceId", "key", "string", False),
        ("ipAddress", "attribute", "ip", False),
        ("amount", "measure", "decimal", True),
        ("ingestionTimestamp", "time", "timestamp", False),
    ]
    assert activity.anchors == ("accountId", "deviceId", "beneficiaryId", "global")
    assert activity.field("kind").values == ("LOG_IN", "PAYMENT", "PROFILE_CHANGE")
    assert (activity.noun, activity.plural) == ("activity", "activities")


def test_what_people_call_things_is_declared_or_made_from_the_names() -> None:
    assert (TRANSACTION.noun, TRANSACTION.plural) == ("payment", "payments")
    labels = {field.name: (field.label, field.plural) for field in TRANSACTION.fields}
    assert labels["payeeId"] == ("payer", "payers")
    assert labels["beneficiaryId"] == ("beneficiary", "beneficiaries")
    assert labels["paymentType"] == ("payment type", "payment types")
    swipe = event_type_loader.from_mapping(SWIPE)
    assert (swipe.noun, swipe.plural, swipe.field("card").label) == ("transaction", "transactions", "card")


def test_the_columns_of_a_recording_are_declared_or_those_of_the_fields() -> None:
    assert TRANSACTION.columns[4:6] == ("paymentType", "paymentAmount")
    swipe = event_type_loader.from_mapping(SWIPE)
    assert swipe.columns == ("id", "at", "card", "outcome", "amount")


def test_names_are_exact_in_events_and_lenient_in_rules() -> None:
    with pytest.raises(UnknownField, match="payeeid"):
        TRANSACTION.field("payeeid")
    assert TRANSACTION.find("PAYERID") is TRANSACTION.field("payeeId")
    assert TRANSACTION.find("iban") is None


def test_these_ship() -> None:
    assert event_type_loader.shipped() == ("activity", "card-authorisation", "transaction")


@pytest.mark.parametrize("name", ["swipe", "../topics/rules.v1", ""])
def test_unknown(name: str) -> None:
    with pytest.raises(UnknownEventType):
        event_type_loader.load(name)


def test_a_type_of_one_s_own() -> None:
    swipe = event_type_loader.from_mapping(SWIPE)
    assert swipe.groupable == ("card", "outcome", "amount")
    assert swipe.ingestion_field is None
    assert swipe.field("pan").name == "card"


def _changed(path: tuple[Any, ...], value: object) -> dict[str, Any]:
    data: Any = copy.deepcopy(SWIPE)
    node = data
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = value
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
    (("anchors",), ["at", "global"], "cannot group by, or that are numbers: at", "an anchor that is no key"),
    (("anchors",), ["amount", "global"], "numbers: amount", "shards are chosen by texts"),
    (("anchors",), ["global"], "1 to 7 anchors before global", "nothing to spread the work by"),
    (("anchors",), [], "last anchor is global", "no anchor at all"),
    (("name",), "Card Swipe", "no name of a type", "it is part of names of files"),
    (("fields", 2, "name"), "card-no", "no name of a field", "a name that rules could not spell"),
    (("fields", 2, "name"), "recordTime", "no name of a field", "a column that the engine has itself"),
    (("fields", 2, "name"), "Global", "no name of a field", "the anchor of all rules"),
    (("fields", 2, "aliases"), ["a b"], "no name of a field", "an alias that rules could not spell"),
    (("fields", 2, "kind"), "timestamp", "maxLength", "a timestamp with a length"),
    (("fields", 3, "kind"), "decimal", "an enum, and nothing else", "a number with values"),
    (
        ("fields", 4, "role"),
        "key",
        "a key or an attribute is one of string, enum, ip, position",
        "a number as a key",
    ),
    (("fields", 4, "required"), False, "a measure is a decimal, and required", "an aggregate of nulls"),
    (("fields", 2, "maxLength"), 65, "maxLength of at most 64", "more than an alert's group holds"),
    (("fields", 3, "values"), ["x" * 65], "values of at most 64", "more than an alert's group holds"),
    (("columns",), ["id", "at"], "each field once", "a recording without its fields"),
    (("noun",), 7, "noun and plural are words", "a number for a word"),
    (("fields", 2, "label"), " ", "label and plural are words", "a blank for a word"),
]


@pytest.mark.parametrize(
    ("path", "value", "said", "reason"), CONTRADICTIONS, ids=[case[-1] for case in CONTRADICTIONS]
)
def test_contradictions(path: tuple[Any, ...], value: object, said: str, reason: str) -> None:
    with pytest.raises(InvalidEventType) as refused:
        event_type_loader.from_mapping(_changed(path, value))
    assert said in str(refused.value), reason
