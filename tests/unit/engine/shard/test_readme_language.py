"""README: each line of "What a rule can say" is a rule that the registry takes, and that alerts as it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.builders.shorthand import batch, payment
from tests.oracle.values.model import Json, MicroBatch, Record
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_contracts.rules import rule_definition

README = Path(__file__).parents[4].joinpath("README.md").read_text(encoding="utf-8")
SECTION = README.split("## What a rule can say", 1)[1].split("\n## ", 1)[0]
BASE: dict[str, Any] = json.loads(re.sub(r"\s+", " ", SECTION.split("`", 2)[1]))
ITEM = re.compile(r"^- (.+?):\s+`(\{.*?\})`$", flags=re.MULTILINE | re.DOTALL)
LINES = {text: re.sub(r"\s+", " ", rule) for text, rule in ITEM.findall(SECTION)}
CHAIN = ("conditions", "filter", "firing", "lateEvents", "cooldownSeconds")
T = 1_700_000_000_000

# Who is named by the alerts of each line, of the payments below.
ALERTS = {
    "mean": ["t3", "t4"],
    "number": ["t2", "t3", "t4", "t5", "t6", "t7", "t8"],
    "seconds since": ["t8"],
    "a field that is": ["t2", "t3", "t4", "t5", "t7", "t8"],
    "any grouping": ["t3", "t5", "t6"],
    "amounts that": ["t3", "t4", "t6", "t7", "t8"],
    "what an account": ["t3", "t3", "t4", "t4", "t5", "t5", "t6", "t6", "t7", "t7"],
    "only some": ["t3", "t5", "t6"],
    "parts of a text": ["t4", "t7"],
    "a list": ["t4", "t7"],
    "a threshold": ["t6", "t7"],
    "a limit that": ["t3"],
    "an alert when": ["t3"],
    "a fresh count": ["t3"],
    "late payments": ["t3", "t4", "t5", "t6", "t7", "t2"],
    "thirty days": ["t3", "t4", "t5", "t6", "t7"],
    "several": ["t3", "t4", "t5"],
    "conditions that": ["t3", "t4", "t5"],
}


def pay(number: int, second: int, payer: str, amount: str, kind: str = "CRD", late: int = 0) -> Record:
    """A payment to beneficiary 12; ``late`` seconds after its event time it is on record."""
    fields: dict[str, Json] = {"payeeId": payer, "paymentType": kind}
    event_time = T + 1000 * second
    return payment(number, event_time, amount, record_time=event_time + 1000 * late, more=fields)


PAYMENTS = [
    pay(1, 1, "ann", "40"),
    pay(2, 2, "bob", "50"),
    pay(3, 3, "cid", "260"),
    pay(4, 4, "bob", "60", "CSH"),
    pay(5, 5, "cid", "6"),
    pay(6, 6, "cid", "5"),
    pay(7, 7, "bob", "3"),
    pay(8, 1, "dan", "30", late=10),
]


def test_the_table_is_read() -> None:
    assert [next(key for key in ALERTS if line.startswith(key)) for line in LINES] == list(ALERTS)


@pytest.mark.parametrize("line", LINES)
def test_a_line(line: str) -> None:
    special = json.loads(LINES[line])
    kept = BASE if "conditions" not in special else {k: v for k, v in BASE.items() if k in CHAIN}
    engine = Engine(shards=2)
    engine.run([_changes({**kept, **special}), *(batch(records=[record]) for record in PAYMENTS)])
    named = [alert["transaction"]["transactionId"] for alert in engine.alerts()]
    expected = next(ALERTS[key] for key in ALERTS if line.startswith(key))
    assert named == expected


def _changes(definition: dict[str, Any]) -> MicroBatch:
    """The rule, and before it the list and the parameter that some lines name."""
    read = rule_definition.parse(definition, TRANSACTION)
    events: list[dict[str, Any]] = [
        {"type": "ListChanged", "name": "watched", "version": 1, "values": ["bob", "eve"]},
        {"type": "ParameterChanged", "name": "high", "version": 1, "value": "420"},
        {
            "type": "RulePublished",
            "ruleId": 1,
            "version": 1,
            "definitionVersion": 1,
            "state": "ACTIVE",
            "name": "from the README",
            "definition": read.to_json(),
            "definitionHash": read.hash,
            "effectiveFrom": 0,
        },
    ]
    common = {"occurredAt": T, "actor": "analyst", "widestWindows": []}
    written = [
        json.dumps({"eventId": str(position), "position": position, **common, **event}).encode()
        for position, event in enumerate(events, 1)
    ]
    return batch(events=written)
