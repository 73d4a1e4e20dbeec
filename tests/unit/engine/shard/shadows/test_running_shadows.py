"""How many shadows run, as a shard's counters say it: until they end, are promoted, or their rule pauses."""

from __future__ import annotations

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft
from tests.unit.engine.support.shard_harness import Engine

RULE = draft("COUNT", ">=", "2", by=("payeeId",), seconds=60)
SHADOW = draft("COUNT", ">=", "1", by=("payeeId",), seconds=60)


def test_until_it_ends() -> None:
    registry = Registry()
    events = [
        (registry.publish(1, RULE, 0, 0), 0),
        (registry.start_shadow(1, SHADOW, 0, 0), 1),
        (registry.move("RulePaused", "PAUSED", 1, 0), 0),
        (registry.move("RuleResumed", "ACTIVE", 1, 0), 1),
        (registry.end_shadow(1, 0), 0),
        (registry.start_shadow(1, SHADOW, 0, 0), 1),
        (registry.promote_shadow(1, 0), 0),
    ]
    engine = Engine()
    for event, running in events:
        engine.run([batch(events=[event])])
        assert engine.gauge("shadows") == [running], event
