"""Fields that are IP addresses: normal forms, rejects, groups, networks; against the oracle over random histories."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.oracle.builders.shorthand import batch
from tests.oracle.generators.profile import EVERYTHING_AND_WEIGHTS
from tests.oracle.histories.random_history import random_history
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.event_types import PAYMENTS, judge_by
from tests.oracle.values.model import Json, MicroBatch, Record
from tests.unit.engine.shard.test_against_oracle import assert_equal
from tests.unit.engine.support.added_field import with_field
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_contracts.event_type import EventType, Field
from tripline_contracts.event_type_checks import check
from tripline_contracts.rules import rule_definition

T = 1_700_000_000_000
ADDRESS = Field("address", "key", "ip", label="address", plural="addresses")
FROM_SOMEWHERE: EventType = replace(
    TRANSACTION,
    fields=(*TRANSACTION.fields, ADDRESS),
    anchors=("payeeId", "address", "beneficiaryId", "global"),
    columns=(*TRANSACTION.columns, "address"),
)
AS_THE_ORACLE_KNOWS = replace(
    PAYMENTS,
    fields=(*PAYMENTS.fields, "address"),
    anchors=("payeeId", "address", "beneficiaryId"),
    nullable=PAYMENTS.nullable | {"address"},
    addresses=frozenset({"address"}),
)
HISTORIES = 12

READ: list[tuple[Json, str | None]] = [
    ("10.0.0.1", "10.0.0.1"),
    ("255.255.255.255", "255.255.255.255"),
    ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
    ("2001:db8:0:1:0:0:0:1", "2001:db8:0:1::1"),
    ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
    ("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"),
    ("::", "::"),
    ("::1", "::1"),
    ("fe80::", "fe80::"),
    ("::ffff:10.0.0.1", "10.0.0.1"),
    ("::FFFF:0a00:0001", "10.0.0.1"),
    ("64:ff9b::10.0.0.1", "64:ff9b::a00:1"),
    ("2001:0db8:0000:0000:0000:0000:255.255.255.255", "2001:db8::ffff:ffff"),
    ("", None),
    (None, None),
]
REFUSED: list[Json] = [
    "10.0.0.256", "10.0.0", "10.0.0.1 ", " ::1", "010.0.0.1", "10.0.0.1/32", "fe80::1%eth0", ":::", "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9", "::g", "localhost", "１０.0.0.1", "10.0.0.1\u0000", 1, 167772161, True, ["::1"], {"a": 1},
]  # fmt: skip


def sent(number: int, address: Json, **more: Json) -> Record:
    fields: dict[str, Json] = {
        "transactionId": f"t{number}",
        "eventTime": T + 1000 * number,
        "payeeId": "25",
        "beneficiaryId": "12",
        "paymentAmount": "1",
        "paymentType": "CSH",
        "address": address,
        **more,
    }
    return Record(0, number, T + 1000 * number, json.dumps(fields).encode())


def rule(rule_id: int, **changes: Any) -> bytes:
    definition = rule_definition.parse(
        {
            "groupingKeyNames": ["address"],
            "aggregatorFunctionType": "COUNT",
            "limitOperatorType": ">=",
            "limit": "1",
            "windowSeconds": 3600,
            **changes,
        },
        FROM_SOMEWHERE,
    )
    event = {
        "eventId": str(rule_id),
        "type": "RulePublished",
        "position": rule_id,
        "occurredAt": T,
        "actor": "analyst",
        "widestWindows": [],
        "ruleId": rule_id,
        "version": 1,
        "definitionVersion": 1,
        "state": "ACTIVE",
        "name": str(rule_id),
        "definition": definition.to_json(),
        "definitionHash": definition.hash,
        "effectiveFrom": 0,
    }
    return json.dumps(event).encode()


def both(batches: list[MicroBatch], shards: int = 2) -> Engine:
    """An engine that says what the oracle says."""
    with judge_by(AS_THE_ORACLE_KNOWS):
        expected = judge(batches)
    engine = Engine(shards=shards, event_type=FROM_SOMEWHERE)
    engine.run(batches)
    assert_equal(engine, expected)
    return engine


def test_the_type_is_one() -> None:
    check(FROM_SOMEWHERE)


def test_addresses_are_read_into_one_form() -> None:
    records = [sent(number, address) for number, (address, _) in enumerate(READ)]
    engine = both([batch(events=[rule(1, groupingKeyNames=["payeeId"])]), batch(records=records)], shards=1)
    shown = [alert["transaction"]["address"] for alert in engine.alerts()]
    assert shown == [address for _, address in READ]


def test_one_machine_is_one_group() -> None:
    records = [
        sent(1, "::ffff:192.0.2.1"),
        sent(2, "192.0.2.1"),
        sent(3, "2001:DB8::1"),
        sent(4, "2001:db8:0::1"),
    ]
    engine = both([batch(events=[rule(1, limit="2")]), batch(records=records)], shards=1)
    assert [alert["group"] for alert in engine.alerts()] == [
        {"address": "192.0.2.1"},
        {"address": "2001:db8::1"},
    ]


@pytest.mark.parametrize("address", REFUSED, ids=lambda address: repr(address)[:30])
def test_what_is_no_address_is_rejected_alone_with_a_reason(address: Json) -> None:
    batches = [batch(events=[rule(1)]), batch(records=[sent(1, "::1"), sent(2, address), sent(3, "::1")])]
    engine = both(batches, shards=1)
    assert len(engine.alerts()) == 2
    (rejected,) = [record for record in engine.out if record.topic == "rejected-transactions.v1"]
    detail = dict(rejected.headers)["detail"].decode()
    assert detail.startswith("address: expected an IPv4 or IPv6 address"), detail


NETWORKS: list[tuple[list[str], list[int]]] = [
    (["10.0.0.0/8"], [0, 1, 2]),
    (["10.0.0.0/9", "10.128.0.0/9"], [0, 1, 2]),
    (["10.0.0.1"], [1]),
    (["::ffff:10.0.0.0/120"], [0, 1]),
    (["0.0.0.0/0"], [0, 1, 2, 3]),
    (["::/0"], [4, 5, 6]),
    (["2001:db8::/32", "2001:db8::/48", "203.0.113.7/32"], [3, 4, 5]),
    (["2001:db8:0:8000::/49"], [5]),
    (["192.0.2.0/24"], []),
]


@pytest.mark.parametrize(("networks", "inside"), NETWORKS, ids=[",".join(case[0]) for case in NETWORKS])
def test_in_a_network(networks: list[str], inside: list[int]) -> None:
    addresses = [
        "10.0.0.0",
        "10.0.0.1",
        "10.255.255.255",
        "203.0.113.7",
        "2001:db8::1",
        "2001:db8:0:8000::",
        "::1",
        None,
    ]
    where: dict[str, Any] = {"field": "address", "inNetwork": networks}
    by_payer = {"groupingKeyNames": ["payeeId"]}
    events = [rule(1, filter=where, **by_payer), rule(2, filter={"not": where}, **by_payer)]
    engine = both(
        [batch(events=events), batch(records=[sent(n, address) for n, address in enumerate(addresses)])]
    )
    numbers = {1: set[int](), 2: set[int]()}
    for alert in engine.alerts():
        numbers[alert["ruleId"]].add(int(alert["transaction"]["transactionId"][1:]))
    # null is in no network, so it passes the opposite
    assert numbers == {1: set(inside), 2: set(range(8)) - set(inside)}


def test_more_addresses_than_a_filter_remembers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tripline_engine.domain.history.networks._REMEMBERED", 3)
    where = {"field": "address", "inNetwork": ["10.0.0.0/30"]}
    records = [sent(n, f"10.0.0.{n % 9}") for n in range(40)]
    engine = both(
        [batch(events=[rule(1, filter=where, groupingKeyNames=["payeeId"])]), batch(records=records)]
    )
    assert len(engine.alerts()) == sum(n % 9 < 4 for n in range(40))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_random_histories_with_addresses(record_property: Callable[[str, object], None]) -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    seen = Counter[str]()
    for seed in range(HISTORIES):
        engine = both(from_somewhere(seed, random_history(seed, EVERYTHING_AND_WEIGHTS)), shards=1 + seed % 3)
        seen["alerts"] += len(engine.alerts())
        seen["by address"] += sum("address" in alert["group"] for alert in engine.alerts())
        seen["rejects"] += len(engine.rejects())
    record_property("told", f"{HISTORIES} histories with addresses equal: {dict(seen)}")
    assert seen["alerts"] > 100
    assert seen["by address"] > 20


_POOL = (
    "10.0.0.1",
    "10.0.0.2",
    "::ffff:10.0.0.1",
    "10.9.0.1",
    "2001:DB8::1",
    "2001:db8:0:0::1",
    "",
    "none",
    5,
)
_NETS = ("10.0.0.0/8", "10.0.0.0/31", "2001:db8::/32", "::/0", "10.0.0.2/32")


def from_somewhere(seed: int, history: list[MicroBatch]) -> list[MicroBatch]:
    """The history, its payments from some address, its rules asking for it now and then."""
    return with_field(Random(f"addresses {seed}"), history, "address", _somewhere, _ask)


def _somewhere(rng: Random) -> Json:
    return rng.choices(_POOL, [20, 20, 10, 10, 10, 10, 6, 1, 1])[0]


def _ask(rng: Random, definition: dict[str, Any]) -> None:
    if rng.random() < 0.5:
        where: dict[str, Any] = {
            "field": "address",
            "inNetwork": sorted(rng.sample(_NETS, rng.randint(1, 3))),
        }
        where = where if rng.random() < 0.7 else {"not": where}
        before = definition.get("filter")
        definition["filter"] = where if before is None else {"all": [before, where]}
    if rng.random() < 0.4 and isinstance(definition.get("groupingKeyNames"), list):
        names = definition["groupingKeyNames"]
        definition["groupingKeyNames"] = ["address", *(name for name in names if name != "address")]
