"""What a rollout sent where is proven: the share is state of the rule as of the position, in any number of shards."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.certificate.support.judged_run import Judged, ran

THREE = draft("COUNT", ">=", "3", by=("payeeId",), seconds=300)


@pytest.fixture
def judged() -> Judged:
    """Three payments a minute of one payee, whose bucket is 34: on trial from minute 3 on, and until minute 8."""
    registry = Registry()
    events = {
        0: [
            registry.publish(1, THREE, 0, START),
            registry.start_shadow(1, replace(THREE, limit=THREE.limit // 3), 0, START),
            registry.roll_out_shadow(1, 20, START),
        ],
        3: [registry.roll_out_shadow(1, 40, START)],
        8: [registry.end_shadow(1, START)],
    }
    batches = []
    for minute in range(10):
        now = START + minute * 60_000
        payments = [payment(3 * minute + n, now + n) for n in range(3)]
        batches.append(batch(events=events.get(minute, []), ticks=[now], records=payments))
    return ran(batches)


@pytest.mark.parametrize("shards", [1, 3])
def test_alerts_of_both_versions_are_proven(judged: Judged, shards: int) -> None:
    versions = Counter(alert["ruleVersion"] for alert in judged.told())
    assert versions == {1: 3 * 3 - 2 + 2 * 3, 2: 5 * 3}
    made = judged.prove(shards=shards)
    assert made.document["outcome"] == "match", made.document["differences"]
    assert made.document["alerts"]["count"] == versions.total()
