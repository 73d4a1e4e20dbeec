"""The catalogue of rules, by the files that the console offers: what trips each, with which values, and what does not.

The values are worked out by hand in each file; the engine has to come to them, and the oracle to the same alerts.
"""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from fractions import Fraction
from importlib import resources
from typing import Any

import pytest
import yaml

from tests.oracle.judgement.oracle import judge
from tests.oracle.values.event_types import TRANSFERS, judge_by
from tests.oracle.values.model import MicroBatch, Record
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_contracts import event_type_loader
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import rule_definition
from tripline_contracts.rules.rule_templates import CatalogueEntry, catalogue, templates_of

FOLDER = resources.files("tripline_contracts") / "rule_templates" / "catalogue"
DECLARED = FOLDER / "event-types" / "account-transfer.yaml"
TYPES = {
    "transaction": TRANSACTION,
    "account-transfer": event_type_loader.from_mapping(yaml.safe_load(DECLARED.read_text(encoding="utf-8"))),
}
USUAL: dict[str, dict[str, Any]] = {
    "transaction": {"payeeId": "p", "beneficiaryId": "b", "paymentAmount": "10", "paymentType": "CRD"},
    "account-transfer": {
        "fromAccount": "p",
        "toAccount": "b",
        "fromCustomer": "ada",
        "toCustomer": "bob",
        "description": "rent",
        "ageBand": "FROM_26",
        "amount": "10",
    },
}
SECONDS = {"d": 86_400, "h": 3600, "m": 60, "s": 1}
T = 1_763_700_000_000
ENTRIES = catalogue()


def milliseconds(text: str) -> int:
    """Of `29d 23h`, or `4.999s`."""
    parts = [re.fullmatch(r"([0-9.]+)([dhms])", part) for part in text.split()]
    return int(sum(1000 * Fraction(part[1]) * SECONDS[part[2]] for part in parts if part is not None))


def history(entry: CatalogueEntry, events: list[dict[str, Any]]) -> list[MicroBatch]:
    """The rule, and the events one by one; of several `{n}` is the number among all."""
    declared, template = TYPES[entry.event_type], entry.template
    body = {name: value for name, value in template.definition.items() if name != "name"}
    definition = rule_definition.parse(body, declared)
    assert rule_definition.parse(definition.to_json(), declared) == definition
    published = {
        "eventId": "00000000-0000-4000-8000-000000000001", "type": "RulePublished", "position": 1, "occurredAt": T,
        "actor": "ada", "widestWindows": [], "ruleId": 1, "version": 1, "definitionVersion": 1, "state": "ACTIVE",
        "name": template.definition["name"], "definition": definition.to_json(), "definitionHash": definition.hash,
        "effectiveFrom": 0,
    }  # fmt: skip
    records: list[Record] = []
    now = T
    for event in events:
        fields = {name: text for name, text in event.items() if name not in ("after", "times", "every")}
        for turn in range(event.get("times", 1)):
            now += milliseconds(event["every"] if turn else event["after"])
            number = len(records) + 1
            value = {
                **USUAL[declared.name],
                **{name: text.format(n=number) for name, text in fields.items()},
                declared.id_field.name: f"t{number}",
                declared.time_field.name: now,
            }
            records.append(Record(0, number, now, json.dumps(value).encode()))
    batches = [MicroBatch((json.dumps(published).encode(),), (), ())]
    return batches + [
        MicroBatch((), (b'{"clock":%d}' % record.record_time,), (record,)) for record in records
    ]


def raised(declared: EventType, batches: list[MicroBatch]) -> dict[str, list[str]]:
    """The alerts, by engine and oracle alike: of each event what it came to, of each condition."""
    engine = Engine(shards=1, event_type=declared)
    engine.run(batches)
    assert engine.rejects() == []
    with nullcontext() if declared is TRANSACTION else judge_by(TRANSFERS):
        expected = judge(batches)
    alerts = engine.alerts()
    assert sorted(json.dumps(alert, sort_keys=True) for alert in alerts) == sorted(
        json.dumps(alert, sort_keys=True) for alert in expected.alerts
    )
    return {
        alert["transaction"][declared.id_field.name]: [
            f"{part['value']} {part['operator']} {part['limit']}" for part in alert.get("conditions", [alert])
        ]
        for alert in alerts
    }


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.number for entry in ENTRIES])
def test_it_is_tripped_with_these_values_and_missed(entry: CatalogueEntry) -> None:
    declared = TYPES[entry.event_type]
    assert raised(declared, history(entry, entry.trips["events"])) == entry.trips["alerts"]
    assert raised(declared, history(entry, entry.misses["events"])) == {}


def test_each_says_why_and_is_offered_under_its_event_type() -> None:
    offered = {name: templates_of(declared) for name, declared in TYPES.items()}
    for entry in ENTRIES:
        template = entry.template
        assert template in offered[entry.event_type]
        assert 20 <= len(template.explanation) <= 200
        assert 5 <= len(template.title) <= 40
        assert entry.trips["alerts"]
    for templates in offered.values():
        assert len({template.title for template in templates}) == len(templates)
        assert len({template.template_id for template in templates}) == len(templates)
    other = event_type_loader.from_mapping(
        {**yaml.safe_load(DECLARED.read_text(encoding="utf-8")), "name": "other-transfer"}
    )
    assert templates_of(other) == ()


def test_a_type_of_that_name_with_other_fields_is_offered_what_it_can_publish() -> None:
    declared = yaml.safe_load(DECLARED.read_text(encoding="utf-8"))
    fields = [field for field in declared["fields"] if field["name"] != "description"]
    without = event_type_loader.from_mapping({**declared, "fields": fields})
    ids = {template.template_id for template in templates_of(without)}
    assert "the-same-description" not in ids
    assert "many-accounts-of-one-payer" in ids


def test_files_are_named_by_their_numbers_and_listed() -> None:
    files = sorted(file.name for file in FOLDER.iterdir() if file.name.endswith(".yaml"))
    assert files == [f"{entry.number}-{entry.template.template_id}.yaml" for entry in ENTRIES]
    listed = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d{3}) \| ", listed, re.MULTILINE)
    assert len(rows) == len(set(rows)) == 33
    linked = re.findall(r"^\| (\d{3}) \| .*\]\((.+\.yaml)\)", listed, re.MULTILINE)
    assert linked == [(entry.number, file) for entry, file in zip(ENTRIES, files, strict=True)]
