"""The engine under event types other than payments: card authorisations, and one that is declared in a file."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.generators.profile import EVERYTHING_AND_MORE, Profile
from tests.oracle.histories.activities import as_activities
from tests.oracle.histories.authorisations import as_authorisations
from tests.oracle.histories.random_history import random_history
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.event_types import SHIPPED, judge_by
from tests.oracle.values.model import MicroBatch, Record
from tests.unit.engine.support.shard_harness import Engine
from tripline_contracts import event_type_loader, schemas
from tripline_contracts.event_type import EventType
from tripline_contracts.installed import installed
from tripline_contracts.rules import rule_definition

HISTORIES = {"card-authorisation": 8, "activity": 5}
TELLS = {"card-authorisation": as_authorisations, "activity": as_activities}
MET = {
    "card-authorisation": ("cardId", "merchantId", "deviceId", "entryMode", "amount"),
    "activity": ("accountId", "beneficiaryId", "deviceId", "amount"),
}
"""Fields by whose groups there are alerts."""
T = 1_763_640_000_000


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", HISTORIES)
def test_random_histories_of_another_type(record_property: Callable[[str, object], None], name: str) -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    declared = event_type_loader.load(name)
    check, seen = schemas.validator("alerts.v1", declared), Counter[str]()
    for seed in range(HISTORIES[name]):
        profile = replace(
            [Profile(), EVERYTHING_AND_MORE][seed % 2], transactions=220, keys=[(1, 4), (2, 6)][seed % 3 % 2]
        )
        batches = TELLS[name](seed, random_history(seed, profile))
        with judge_by(SHIPPED[name]):
            expected = judge(batches)
        engine = Engine(shards=1 + seed % 3, event_type=declared)
        engine.run(batches)
        assert canonical(engine.alerts()) == canonical(expected.alerts), seed
        assert sorted(engine.rejects()) == sorted((r.partition, r.offset, r.reason) for r in expected.rejects)
        assert engine.counters["duplicates"] == expected.duplicates
        assert engine.counters["backfilled"] == expected.backfilled
        assert engine.statuses() == expected.statuses
        assert canonical(_bare(engine.traces())) == canonical(expected.traces)
        assert engine.counts() == {rule: asdict(counts) for rule, counts in expected.counts.items()}
        for alert in engine.alerts()[:20]:
            check({**alert, "detectedAt": T})
        seen += Counter(field for alert in engine.alerts() for field in alert["group"])
        seen["histories with alerts"] += bool(expected.alerts)
    record_property(
        "told", f"{HISTORIES[name]} histories equal; alerts by field of their group: {dict(seen)}"
    )
    assert seen["histories with alerts"] >= 0.6 * HISTORIES[name]
    assert all(seen[field] > 20 for field in MET[name])


LOG_IN = """
name: log-in
version: 1
noun: log-in
anchors: [account, address, global]
fields:
  - {name: attempt, role: id, kind: string, required: true, maxLength: 36}
  - {name: at, role: time, kind: timestamp, required: true}
  - {name: account, role: key, kind: string, maxLength: 64, aliases: [user]}
  - {name: address, role: key, kind: string, required: true, maxLength: 45}
  - {name: outcome, role: attribute, kind: enum, required: true, values: [failed, passed]}
"""


@pytest.fixture
def log_in(tmp_path: Path) -> EventType:
    file = tmp_path / "log-in.yaml"
    file.write_text(LOG_IN, encoding="utf-8")
    return installed(str(file))


def test_a_declared_type_without_measure_or_time_of_entry(log_in: EventType) -> None:
    failures: dict[str, Any] = {
        "groupingKeyNames": ["account"],
        "aggregatorFunctionType": "COUNT",
        "filter": {"field": "outcome", "operator": "=", "value": "failed"},
    }
    guesses: dict[str, Any] = {
        "groupingKeyNames": ["address"],
        "aggregatorFunctionType": "COUNT_DISTINCT",
        "aggregateFieldName": "user",
    }
    resetting = {**failures, "groupingKeyNames": ["address"], "limit": "2", "resetOnAlert": True}
    again = {**guesses, "limit": "9", "lateEvents": "reevaluate"}
    rules = [_published(1 + i, rule, log_in) for i, rule in enumerate((failures, guesses, resetting, again))]
    for shards in (1, 2):
        engine = Engine(shards=shards, event_type=log_in)
        engine.take(MicroBatch(tuple(rules), (), ()))
        attempts = [
            ("ann", "10.0.0.1", "failed"),
            ("bob", "10.0.0.2", "failed"),
            ("ann", "10.0.0.3", "passed"),
        ]
        attempts += [
            ("ann", "10.0.0.2", "failed"),
            ("cid", "10.0.0.2", "failed"),
            ("ann", "10.0.0.1", "failed"),
        ]
        records = [_attempt(i, *attempt) for i, attempt in enumerate(attempts)]
        engine.take(MicroBatch((), (b'{"clock":%d}' % T,), tuple(records)))
        engine.take(MicroBatch((), (), (Record(0, 99, T, b'{"attempt":"x","at":1}'),)))
        alerts = sorted(engine.alerts(), key=lambda alert: (alert["ruleId"], alert["group"].get("address")))
        assert [(alert["ruleId"], alert["group"], alert["value"]) for alert in alerts] == [
            (1, {"account": "ann"}, "3"),
            (2, {"address": "10.0.0.2"}, "3"),
            (3, {"address": "10.0.0.1"}, "2"),
            (3, {"address": "10.0.0.2"}, "2"),
        ]
        assert alerts[0]["transaction"] == {
            "attempt": "a5",
            "at": T + 5,
            "account": "ann",
            "address": "10.0.0.1",
            "outcome": "failed",
        }
        assert alerts[0]["ingestedAt"] == T + 100
        assert engine.rejects() == [(0, 99, "unparseable")]
        check = schemas.validator("alerts.v1", log_in)
        for alert in alerts:
            check({**alert, "detectedAt": T})


def test_without_a_measure_nothing_is_summed(log_in: EventType) -> None:
    with pytest.raises(rule_definition.InvalidDefinition, match="aggregateFieldName"):
        _published(1, {"aggregatorFunctionType": "SUM", "aggregateFieldName": "amount"}, log_in)


def _published(rule_id: int, special: dict[str, Any], declared: EventType) -> bytes:
    definition = rule_definition.parse(
        {
            "groupingKeyNames": [],
            "limitOperatorType": ">=",
            "limit": "3",
            "windowSeconds": 60,
            **special,
        },
        declared,
    )
    event = {
        "eventId": str(rule_id),
        "type": "RulePublished",
        "position": rule_id,
        "occurredAt": T,
        "actor": "ada",
        "widestWindows": [],
        "ruleId": rule_id,
        "version": 1,
        "definitionVersion": 1,
        "state": "ACTIVE",
        "name": f"rule {rule_id}",
        "definition": definition.to_json(),
        "definitionHash": definition.hash,
        "effectiveFrom": 0,
    }
    schemas.validator("rules.v1", declared)(
        {**event, "eventId": f"00000000-0000-4000-8000-00000000000{rule_id}"}
    )
    return json.dumps(event).encode()


def _attempt(number: int, account: str, address: str, outcome: str) -> Record:
    value = {
        "attempt": f"a{number}",
        "at": T + number,
        "user": account,
        "address": address,
        "outcome": outcome,
    }
    return Record(0, number, T + 100, json.dumps(value).encode())


def canonical(alerts: list[Any]) -> list[str]:
    return sorted(json.dumps(alert, sort_keys=True) for alert in alerts)


def _bare(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in trace.items() if name != "judgedAt"} for trace in traces]
