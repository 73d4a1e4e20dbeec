"""Histories that an earlier engine has judged: the engine of today says the same of them, byte for byte.

Rules of before keep their JSON, their hash and their alerts. `golden/README.md` says how the histories were made.
"""

from __future__ import annotations

import json
import logging
import lzma
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.values.model import MicroBatch, Record
from tests.unit.engine.support.shard_harness import Engine, keeping
from tripline_contracts import event_type_loader
from tripline_contracts.canonical import canonical_json
from tripline_contracts.event_type import EventType
from tripline_contracts.rules import rule_definition

POSITION_REPORTED = b"tripline.PositionReported.v1"
GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json.xz"))


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.name.partition(".")[0])
def test_the_same_bytes_and_the_same_hashes(file: Path) -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    golden = json.loads(lzma.decompress(file.read_bytes()))
    declared = event_type_loader.load(golden["eventType"])
    for text, expected in golden["definitions"]:
        assert meaning(text, declared) == expected, text
    # release 0.1.0 kept all anchors, whether rules needed them or not
    engine = Engine(shards=golden["shards"], event_type=keeping(declared, declared.anchors))
    for batch in golden["batches"]:
        engine.take(as_batch(batch))
    assert said(engine) == golden["said"]


def test_there_are_histories_with_alerts_of_both_types() -> None:
    assert len(GOLDEN) == 12
    assert {file.name.rpartition("-")[0] for file in GOLDEN} == {"card-authorisation", "transaction"}


def as_batch(batch: dict[str, Any]) -> MicroBatch:
    """The micro-batch as the harness takes it."""
    return MicroBatch(
        tuple(map(raw, batch["ruleEvents"])),
        tuple(map(raw, batch["ticks"])),
        tuple(
            Record(partition, offset, time, None if value is None else raw(value), backfill)
            for partition, offset, time, value, backfill in batch["records"]
        ),
    )


def meaning(text: str, declared: EventType) -> list[str] | None:
    """The definition's canonical JSON and its hash; None where it is refused."""
    try:
        definition = rule_definition.parse(json.loads(text)["definition"], declared)
    except rule_definition.InvalidDefinition:
        return None
    return [canonical_json(definition.to_json()).decode(), definition.hash]


def said(engine: Engine) -> list[list[Any]]:
    """What goes to Kafka as topic, key, value and headers, but for what that release did not say."""
    return [
        [
            record.topic,
            shown(record.key),
            shown(record.value),
            [[name, shown(value)] for name, value in record.headers],
        ]
        for record in engine.out
        if record.topic != "engine-order.v1" and ("ce_type", POSITION_REPORTED) not in record.headers
    ]


def raw(text: str) -> bytes:
    """The bytes of a text; they need not be UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def shown(value: bytes | None) -> str | None:
    """The text of these bytes."""
    return None if value is None else value.decode("utf-8", "surrogateescape")
