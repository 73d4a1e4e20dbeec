"""IP addresses and networks: one normal form each, in event types, filters and their schemas."""

from __future__ import annotations

import ipaddress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.contracts.support.strategies import filters_of
from tripline_contracts import event_type_loader, schemas
from tripline_contracts.errors import InvalidEventType
from tripline_contracts.event_type import EventType, Field
from tripline_contracts.filters import filter_parser
from tripline_contracts.filters.filter_leaves import NetworkTest
from tripline_contracts.normal_forms import ip_addresses

TRANSACTION = event_type_loader.load()
FROM_SOMEWHERE: EventType = replace(
    TRANSACTION,
    fields=(*TRANSACTION.fields, Field("address", "attribute", "ip", aliases=("ip",))),
    columns=(*TRANSACTION.columns, "address"),
)
LOG_IN: dict[str, Any] = {
    "name": "log-in",
    "version": 1,
    "anchors": ["address", "global"],
    "fields": [
        {"name": "id", "role": "id", "kind": "string", "required": True, "maxLength": 36},
        {"name": "at", "role": "time", "kind": "timestamp", "required": True},
        {"name": "address", "role": "key", "kind": "ip"},
    ],
}

NORMAL: list[tuple[str, str | None]] = [
    ("10.0.0.0/8", "10.0.0.0/8"),
    ("10.0.0.1", "10.0.0.1/32"),
    ("10.0.0.0/255.0.0.0", "10.0.0.0/8"),
    ("2001:DB8::/32", "2001:db8::/32"),
    ("::1", "::1/128"),
    ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
    ("::ffff:0:0/96", "0.0.0.0/0"),
    ("0.0.0.0/0", "0.0.0.0/0"),
    ("::/0", "::/0"),
    ("10.0.0.1/8", None),
    ("10.0.0.0/33", None),
    ("10.0.0/8", None),
    ("fe80::%eth0/64", None),
    (" 10.0.0.0/8", None),
    ("", None),
    ("0" * 60, None),
]


@pytest.mark.parametrize(("written", "normal"), NORMAL)
def test_networks_have_one_form(written: str, normal: str | None) -> None:
    assert ip_addresses.normal_network(written) == normal


@given(st.ip_addresses())
def test_every_address_is_read_however_it_is_written(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    normal = ip_addresses.normal_address(str(address))
    assert normal is not None
    assert ip_addresses.normal_address(address.exploded.upper()) == normal
    assert ip_addresses.normal_address(normal) == normal
    assert ip_addresses.address_number(normal)[1] & 0xFFFF_FFFF == int(address) & 0xFFFF_FFFF


@given(st.text(max_size=50))
def test_any_other_text_is_refused_and_none_of_them_fails(text: str) -> None:
    for read in (ip_addresses.normal_address, ip_addresses.normal_network):
        normal = read(text)
        assert normal is None or read(normal) == normal


def test_a_filter_of_networks() -> None:
    written = {"field": "IP", "inNetwork": ["2001:DB8::/32", "10.0.0.0/8", "10.0.0.0/8", "10.0.0.7"]}
    networks = ("10.0.0.0/8", "10.0.0.7/32", "2001:db8::/32")
    read, problems = filter_parser.read(written, FROM_SOMEWHERE)
    assert (read, problems) == (NetworkTest("address", networks), [])
    assert read is not None
    assert filter_parser.read(read.to_json(), FROM_SOMEWHERE) == (read, [])
    same = filter_parser.read(
        {"field": "address", "operator": "=", "value": "::FFFF:10.0.0.1"}, FROM_SOMEWHERE
    )[0]
    assert same is not None
    assert same.to_json() == {"field": "address", "operator": "=", "value": "10.0.0.1"}
    listed = filter_parser.read({"field": "address", "in": {"list": "watched"}}, FROM_SOMEWHERE)[0]
    assert listed is not None


REFUSED: list[tuple[Any, str, str]] = [
    ({"field": "payeeId", "inNetwork": ["10.0.0.0/8"]}, "inNetwork", "payeeId is none"),
    ({"field": "address", "inNetwork": []}, "inNetwork", "a list of 1 to 1000 networks"),
    ({"field": "address", "inNetwork": "10.0.0.0/8"}, "inNetwork", "a list of 1 to 1000 networks"),
    ({"field": "address", "inNetwork": {"list": "nets"}}, "inNetwork", "a list of 1 to 1000 networks"),
    (
        {"field": "address", "inNetwork": ["10.0.0.0/8", "10.0.0.1/8"]},
        "inNetwork[1]",
        "bits behind its prefix",
    ),
    ({"field": "address", "inNetwork": [10]}, "inNetwork[0]", "expected a network"),
    ({"field": "address", "operator": "=", "value": "localhost"}, "value", "an IPv4 or IPv6 address"),
    ({"field": "address", "operator": ">", "value": "10.0.0.1"}, "operator", "= !="),
    ({"field": "address", "startsWith": "10."}, "startsWith", "a field of texts"),
    (
        {"field": "address", "operator": "=", "otherField": "payeeId"},
        "otherField",
        "another field of kind ip",
    ),
]


@pytest.mark.parametrize(
    ("written", "field", "said"), REFUSED, ids=[case[-1] + str(i) for i, case in enumerate(REFUSED)]
)
def test_refused(written: Any, field: str, said: str) -> None:
    read, problems = filter_parser.read(written, FROM_SOMEWHERE)
    assert read is None
    (problem,) = problems
    assert problem.field == f"filter.{field}"
    assert said in problem.message


@given(filters_of(FROM_SOMEWHERE))
def test_random_filters_keep_the_schema_and_read_back(some: Any) -> None:
    schemas.validator("filter", FROM_SOMEWHERE)(some.to_json())
    assert filter_parser.read(some.to_json(), FROM_SOMEWHERE) == (some, [])


def test_a_type_with_addresses() -> None:
    declared = event_type_loader.from_mapping(LOG_IN)
    assert declared.groupable == ("address",)
    transactions = schemas.validator("transactions.v1", declared)
    transactions({"id": "1", "at": 5, "address": "::1"})
    transactions({"id": "1", "at": 5, "address": None})
    with pytest.raises(InvalidEventType, match="a string, and nothing else, has a maxLength"):
        event_type_loader.from_mapping(
            {**LOG_IN, "fields": [*LOG_IN["fields"][:2], {**LOG_IN["fields"][2], "maxLength": 45}]}
        )
    with pytest.raises(InvalidEventType, match="a measure is a decimal"):
        event_type_loader.from_mapping(
            {
                **LOG_IN,
                "fields": [
                    *LOG_IN["fields"],
                    {"name": "to", "role": "measure", "kind": "ip", "required": True},
                ],
            }
        )
