"""Random histories in which payments have one field more, and rules that ask for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json, MicroBatch, Record

Draw = Callable[[Random], Json]
Ask = Callable[[Random, dict[str, Any]], None]


def with_field(rng: Random, history: list[MicroBatch], name: str, draw: Draw, ask: Ask) -> list[MicroBatch]:
    """The history with the field `name` in its payments, drawn for each.

    :param ask: may change a rule's definition in place; its hash is made to fit. Broken rule events stay as they are
    """
    return [
        MicroBatch(
            tuple(_asking(rng, value, ask) for value in part.rule_events),
            part.ticks,
            tuple(_having(rng, record, name, draw) for record in part.records),
        )
        for part in history
    ]


def _having(rng: Random, record: Record, name: str, draw: Draw) -> Record:
    value = record.value
    if value is None or not value.startswith(b'{"'):
        return record
    member = f"{json.dumps(name)}:{json.dumps(draw(rng))}".encode()
    return replace(record, value=b"{%s,%s" % (member, value[1:]))


def _asking(rng: Random, value: bytes, ask: Ask) -> bytes:
    try:
        event = json.loads(value)
        definition = event["definition"]
        had = event["definitionHash"] == definition_hash(definition)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return value
    if not had or not isinstance(definition, dict):
        return value
    ask(rng, definition)
    event["definitionHash"] = definition_hash(definition)
    return json.dumps(event).encode()
