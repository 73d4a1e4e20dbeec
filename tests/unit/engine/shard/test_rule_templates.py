"""Each template, as it stands: payments that trip it, and payments like them that do not; engine and oracle agree."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.oracle.judgement.oracle import judge
from tests.oracle.values.event_types import SHIPPED, judge_by
from tests.oracle.values.model import MicroBatch, Record
from tests.unit.engine.support.shard_harness import Engine
from tripline_contracts import event_type_loader
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.rule_templates import RuleTemplate, catalogue, templates_of

TYPES = {name: event_type_loader.load(name) for name in event_type_loader.shipped()}
# those of the catalogue have their examples beside them: test_catalogue.py
ELSEWHERE = [entry.template for entry in catalogue()]
TEMPLATES = [
    (TYPES[name], template)
    for name in TYPES
    for template in templates_of(TYPES[name])
    if template not in ELSEWHERE
]
T = 1_763_700_000_000
HOUR, DAY = 3600, 86400
USUAL: dict[str, dict[str, Any]] = {
    "transaction": {"payeeId": "p", "beneficiaryId": "b", "paymentAmount": "10", "paymentType": "CRD"},
    "card-authorisation": {
        "cardId": "c",
        "merchantId": "m",
        "deviceId": "d",
        "merchantCategory": "5411",
        "entryMode": "ONLINE",
        "amount": "10",
    },
    "activity": {
        "accountId": "a",
        "kind": "PAYMENT",
        "beneficiaryId": "b",
        "deviceId": "d",
        "ipAddress": "192.0.2.7",
        "amount": "10",
    },
}
NO_PAYMENT: dict[str, Any] = {"beneficiaryId": None, "amount": "0"}
LOG_IN: dict[str, Any] = {**NO_PAYMENT, "kind": "LOG_IN", "logInResult": "PASSED"}
FAILURE: dict[str, Any] = {**LOG_IN, "logInResult": "FAILED"}
CHANGE: dict[str, Any] = {**NO_PAYMENT, "kind": "PROFILE_CHANGE", "profilePart": "PASSWORD"}


@dataclass(frozen=True, slots=True)
class Many:
    """`times` events, `every` so many seconds, of the usual kind but for these fields; `{n}` is the event's number."""

    times: int
    every: float
    fields: Mapping[str, str | None]
    after: float = 0


def many(times: int, every: float = 1, after: float = 0, **fields: str | None) -> Many:
    return Many(times, every, fields, after)


EXAMPLES: dict[str, tuple[list[Many], list[Many]]] = {
    "large-sum-to-one-beneficiary": (
        [many(3, HOUR, paymentAmount="70000")],
        [many(3, HOUR, paymentAmount="70000", beneficiaryId="b{n}")],
    ),
    "many-payments-in-a-hurry": ([many(31)], [many(31, 3)]),
    "quick-repeat": ([many(2, 3)], [many(9, 4)]),
    "money-mule": (
        [many(5, 60, paymentAmount="9000", payeeId="p{n}")],
        [many(5, 600, paymentAmount="9000", payeeId="p{n}")],
    ),
    "much-and-to-many": (
        [many(4, 60, beneficiaryId="b{n}", paymentAmount="1300")],
        [many(3, 60, beneficiaryId="b{n}", paymentAmount="1700"), many(3, HOUR, HOUR, beneficiaryId="c{n}")],
    ),
    "first-large-payment": (
        [many(3, DAY), many(1, after=DAY, paymentAmount="5000")],
        [many(3, DAY), many(1, after=DAY, paymentAmount="4999.99")],
    ),
    "dormant-account": (
        [many(1), many(1, after=31 * DAY, paymentAmount="3001")],
        [many(1), many(1, after=29 * DAY, paymentAmount="3001")],
    ),
    "structured-cash": (
        [many(2, HOUR, paymentAmount="5000.01", paymentType="CSH")],
        [
            many(1, paymentAmount="12000", paymentType="CSH"),
            many(1, after=60, paymentAmount="9000", paymentType="CSH"),
            many(1, after=60, paymentAmount="9000"),
        ],
    ),
    "equal-amounts-out": ([many(6, 60, paymentAmount="49.90")], [many(9, 60, paymentAmount="49.9{n}")]),
    "equal-amounts-in": (
        [many(11, HOUR, payeeId="p{n}", paymentAmount="199")],
        [many(10, HOUR, payeeId="p{n}", paymentAmount="199"), many(5, 60, payeeId="p1", paymentAmount="199")],
    ),
    "card-testing": (
        [many(21, 2, paymentAmount="1.01")],
        [many(21, 2, paymentAmount="5.01"), many(20, 2, 60, paymentAmount="1"), many(9, paymentType="CSH")],
    ),
    "high-on-average": (
        [many(5, 60, paymentAmount="2001")],
        [many(4, 60, paymentAmount="2000"), many(9, 60, 60, paymentAmount="1999")],
    ),
    "one-big-payment": ([many(1, paymentAmount="10000.01")], [many(9, paymentAmount="10000")]),
    "everything-at-once": (
        [many(11, 60, paymentAmount="99000", paymentType="CSH", payeeId="p{n}", beneficiaryId="b{n}")],
        [many(11, 60, paymentAmount="99000", payeeId="p{n}", beneficiaryId="b{n}")],
    ),
}
OF_CARDS: dict[str, tuple[list[Many], list[Many]]] = {
    "card-testing": (
        [many(21, 2, amount="1", cardId="c{n}")],
        [many(21, 2, amount="3"), many(20, 2, 60, amount="1"), many(9, 1, 60, amount="1", entryMode="CHIP")],
    ),
    "one-device-many-cards": (
        [many(7, 60, cardId="c{n}")],
        [many(6, 60, cardId="c{n}"), many(9, 60, cardId="c1")],
    ),
    "one-card-at-many-merchants": (
        [many(21, 2, merchantId="m{n}")],
        [many(30, 2), many(12, 9, 60, merchantId="m{n}")],
    ),
    "much-at-one-merchant": ([many(2, 60, amount="4001")], [many(2, 60, amount="4000")]),
    "many-entry-modes": (
        [many(1, entryMode="CHIP"), many(1, entryMode="SWIPE", after=60), many(1, after=60)],
        [many(9, entryMode="CHIP"), many(9, after=60)],
    ),
    "much-by-swipe": (
        [many(2, 60, amount="1501", entryMode="SWIPE")],
        [many(9, 60, amount="1501", entryMode="CHIP")],
    ),
    "another-device": (
        [many(2, 60), many(1, after=60, deviceId="e")],
        [many(3, 60), many(1, after=121, deviceId="e"), many(1, after=1, deviceId="f", entryMode="CHIP")],
    ),
}
OF_ACTIVITIES: dict[str, tuple[list[Many], list[Many]]] = {
    "account-takeover": (
        [many(1), many(1, after=DAY, **CHANGE), many(1, after=60), many(1, after=3540, beneficiaryId="c")],
        [
            many(1),
            many(1, after=60, beneficiaryId="c"),
            many(1, after=DAY, **{**CHANGE, "profilePart": "PHONE"}),
            many(1, after=60, beneficiaryId="e"),
            many(1, after=60, **CHANGE),
            many(1, after=60),
            many(1, after=60, **{**CHANGE, "accountId": "another"}),
            many(1, after=60, beneficiaryId="c"),
            many(1, after=3420.001, beneficiaryId="f"),
        ],
    ),
    "much-after-a-change": (
        [many(3, DAY), many(1, after=DAY, **CHANGE), many(1, after=HOUR, amount="30.000001")],
        [
            many(2, DAY),
            many(1, after=DAY, **CHANGE),
            many(1, after=HOUR, amount="99"),
            many(1, after=2 * HOUR, amount="119"),
            many(1, after=2 * DAY, amount="999"),
        ],
    ),
    "guessed-password": (
        [many(10, 10, **FAILURE), many(1, after=10, **LOG_IN)],
        [many(9, 10, **FAILURE), many(1, after=10, **LOG_IN), many(9, 10, HOUR, **FAILURE)],
    ),
    "one-device-many-accounts": (
        [many(9, 60, **{**FAILURE, "accountId": "a{n}"})],
        [many(8, 60, **{**FAILURE, "accountId": "a{n}"}), many(9, 1, **{**LOG_IN, "accountId": "a{n}"})],
    ),
    "another-device": (
        [many(2, 60, **LOG_IN), many(1, after=60), many(1, after=60, **{**LOG_IN, "deviceId": "e"})],
        [
            many(2, 60, **LOG_IN),
            many(1, after=60, deviceId="e"),
            many(1, after=60, **{**FAILURE, "deviceId": "e"}),
            many(1, after=601, **{**LOG_IN, "deviceId": "e"}),
        ],
    ),
    "faster-than-people": (
        [many(1, **LOG_IN), many(1, after=4.999)],
        [many(1, **LOG_IN), many(1, after=1, **CHANGE), many(1, after=4), many(1, after=1, accountId="c")],
    ),
}
BY_TYPE = {"transaction": EXAMPLES, "card-authorisation": OF_CARDS, "activity": OF_ACTIVITIES}


def history(declared: EventType, template: RuleTemplate, parts: list[Many]) -> list[MicroBatch]:
    body = {name: value for name, value in template.definition.items() if name != "name"}
    definition = rule_definition.parse(body, declared)
    event = {
        "eventId": "00000000-0000-4000-8000-000000000001", "type": "RulePublished", "position": 1, "occurredAt": T,
        "actor": "ada", "widestWindows": [], "ruleId": 1, "version": 1, "definitionVersion": 1, "state": "ACTIVE",
        "name": template.definition["name"], "definition": definition.to_json(), "definitionHash": definition.hash,
        "effectiveFrom": 0,
    }  # fmt: skip
    batches = [MicroBatch((json.dumps(event).encode(),), (), ())]
    now, number = T, 0
    for part in parts:
        now += round(part.after * 1000)
        for turn in range(part.times):
            now += round(part.every * 1000) if turn else 0
            number += 1
            texts = {name: text and text.format(n=number) for name, text in part.fields.items()}
            value = {
                **USUAL[declared.name],
                **texts,
                declared.id_field.name: f"t{number}",
                declared.time_field.name: now,
            }
            record = Record(0, number, now, json.dumps(value).encode())
            batches.append(MicroBatch((), (b'{"clock":%d}' % now,), (record,)))
    return batches


def raised(declared: EventType, batches: list[MicroBatch]) -> list[str]:
    """The transactions that raised an alert, by engine and oracle alike."""
    engine = Engine(shards=1, event_type=declared)
    engine.run(batches)
    assert engine.rejects() == []
    with judge_by(SHIPPED[declared.name]):
        expected = judge(batches)
    alerts = engine.alerts()
    assert sorted(json.dumps(alert, sort_keys=True) for alert in alerts) == sorted(
        json.dumps(alert, sort_keys=True) for alert in expected.alerts
    )
    return [alert["transaction"][declared.id_field.name] for alert in alerts]


IDS = [f"{declared.name}-{template.template_id}" for declared, template in TEMPLATES]


@pytest.mark.parametrize(("declared", "template"), TEMPLATES, ids=IDS)
def test_it_is_tripped_by_the_last_of_these_and_not_before(
    declared: EventType, template: RuleTemplate
) -> None:
    parts = BY_TYPE[declared.name][template.template_id][0]
    assert raised(declared, history(declared, template, parts)) == [f"t{sum(part.times for part in parts)}"]


@pytest.mark.parametrize(("declared", "template"), TEMPLATES, ids=IDS)
def test_it_is_not_tripped_by_these(declared: EventType, template: RuleTemplate) -> None:
    parts = BY_TYPE[declared.name][template.template_id][1]
    assert raised(declared, history(declared, template, parts)) == []


def test_there_are_a_dozen_of_the_default_type_and_none_without_examples() -> None:
    assert len(templates_of(TYPES["transaction"])) >= 12
    for name, examples in BY_TYPE.items():
        ids = [template.template_id for declared, template in TEMPLATES if declared.name == name]
        assert sorted(ids) == sorted(examples)
        titles = [template.title for template in templates_of(TYPES[name])]
        assert len(set(titles)) == len(titles)


@pytest.mark.parametrize(("declared", "template"), TEMPLATES, ids=IDS)
def test_it_says_why_and_has_a_name(declared: EventType, template: RuleTemplate) -> None:
    assert 20 <= len(template.explanation) <= 200
    assert 5 <= len(template.title) <= 40
    assert template.definition["name"]
