"""A small history that trips every kind of rule: late payments, one sent twice, voids, lists that change, commands.

micro-batch  0      1 2       3                        4                   5
             rules  payments  the list, the parameter  others published,   all is changed: no alert
                              and a void; payments     payments            goes by it
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import MicroBatch, Record
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.support.positioned import LOCATED
from tripline_contracts.event_type import EventType, Field
from tripline_contracts.rules import rule_definition

MINUTE: Final = 60_000
PER_BATCH: Final = 12
BATCHES: Final = 4
LATE, LATE_BY = (22, 34), 150_000
"""These come when they are due, and say that they happened so many ms earlier."""
TYPE: EventType = replace(
    LOCATED,
    fields=(*LOCATED.fields, Field("address", "attribute", "ip", label="address", plural="addresses")),
    columns=(*LOCATED.columns, "address"),
)
STRANGER: Final = {"payeeId": "99", "beneficiaryId": "98", "address": None}


def published(registry: Registry, rule_id: int, body: Mapping[str, Any], version: int = 1) -> bytes:
    """A rule event; the definition as the registry normalises it, in force from the beginning."""
    definition: Any = rule_definition.parse(dict(body), TYPE).to_json()
    registry.position += 1
    event = {
        "eventId": f"00000000-0000-4000-8000-{registry.position:012}", "type": "RulePublished",
        "position": registry.position, "occurredAt": START, "actor": "ada", "widestWindows": [], "ruleId": rule_id,
        "version": version, "definitionVersion": version, "state": "ACTIVE", "name": f"rule {rule_id}",
        "definition": definition, "definitionHash": definition_hash(definition), "effectiveFrom": START - MINUTE,
    }  # fmt: skip
    return json.dumps(event).encode()


def payment(number: int, **more: Any) -> Record:
    """The payment with that number, a minute after the one before: to and from payer 25, but each fifth."""
    sent = START + number * MINUTE
    fields = {
        "transactionId": f"t{number}",
        "eventTime": sent - LATE_BY if number in LATE else sent,
        "payeeId": "25",
        "beneficiaryId": None if number % 6 == 2 else f"b{number % 3}",
        "paymentAmount": str(1 + number % 7),
        "paymentType": "CSH" if number % 4 < 2 else "CRD",
        "position": f"{50 + number % 3},10",
        "address": f"10.0.0.{number}",
        **({"payeeId": "b1", "beneficiaryId": "25"} if number % 8 == 7 else {}),
        **(STRANGER if number % 5 == 0 else {}),
        **more,
    }
    return Record(0, number, sent, json.dumps(fields).encode())


def history(rules: Sequence[Mapping[str, Any]], later: Sequence[Mapping[str, Any]] = ()) -> list[MicroBatch]:
    """The rules from the beginning, numbered from 1, those published `later` after them."""
    registry = Registry()
    first = [
        registry.change_list("watched", ["b0", "b1"], START),
        registry.change_parameter("much", "8", START),
        registry.change_parameter("weight", "15", START),
        *(published(registry, number, body) for number, body in enumerate(rules, 1)),
    ]
    middle = [
        registry.change_list("watched", ["b1", "b2"], START),
        registry.change_parameter("much", "6", START),
        registry.void("t16", START + 16 * MINUTE),
    ]
    caught_up = [published(registry, number, body) for number, body in enumerate(later, len(rules) + 1)]
    last = [
        registry.change_list("watched", [], START),
        registry.change_parameter("much", "100000", START),
        registry.change_parameter("weight", "-1", START),
        registry.void("t31", START + 31 * MINUTE),
    ]
    events = {3: middle, 4: caught_up}
    batches = [batch(events=first, ticks=[START])]
    for number in range(1, BATCHES + 1):
        records = [payment(n) for n in range((number - 1) * PER_BATCH, number * PER_BATCH)]
        if number == 2:  # one of the first micro-batch's again
            twin = json.loads(payment(4).value or b"")
            records[5] = payment(17, **{**twin, "paymentAmount": "400"})
        ticks = [records[0].record_time - MINUTE]
        batches.append(batch(events=events.get(number, ()), ticks=ticks, records=records))
    return [*batches, batch(events=last)]
