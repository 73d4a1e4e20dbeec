"""The oracle's judgement of a history worked out by hand, with which the engine has to agree.

Every such history is given to the engine too, on two shards: with all anchors kept, as most of these histories are
worked out, and with anchors on demand. Random histories are left out: they have a test of their own in
tests/unit/engine.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict
from typing import Any, Final

from tests import oracle
from tests.oracle.output.traces import comparable
from tests.oracle.values.event_types import PAYMENTS
from tests.oracle.values.model import MicroBatch, Outcome
from tests.oracle.values.schema import GLOBAL
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine, keeping
from tripline_contracts.event_type import GLOBAL_ANCHOR

ALL_ANCHORS: Final = (*PAYMENTS.anchors, GLOBAL)


def judge(batches: Iterable[MicroBatch], *, kept: Collection[str] = ALL_ANCHORS, **options: Any) -> Outcome:
    """What the oracle makes of a history with these anchors kept; asserts that the engine makes the same of it."""
    history = list(batches)
    outcome = oracle.judge(history, kept=kept, **options)
    for anchors in {frozenset(kept), frozenset[str]()}:
        assert_engine_agrees(history, anchors)
    return outcome


def assert_engine_agrees(history: list[MicroBatch], kept: Collection[str] = ALL_ANCHORS) -> None:
    """Alerts, rejects, duplicates, statuses, exports, traces and counts of the engine are the oracle's."""
    expected = oracle.judge(history, kept=kept)
    engine = Engine(shards=2, event_type=keeping(TRANSACTION, {name or GLOBAL_ANCHOR for name in kept}))
    engine.run(history)
    assert _sorted(engine.alerts()) == _sorted(expected.alerts)
    assert _sorted(engine.alerts("shadow-alerts.v1")) == _sorted(expected.shadow_alerts)
    assert sorted(engine.rejects()) == sorted((r.partition, r.offset, r.reason) for r in expected.rejects)
    assert engine.counters["duplicates"] == expected.duplicates
    assert engine.counters["backfilled"] == expected.backfilled
    assert engine.statuses() == expected.statuses
    assert engine.exports() == expected.exports
    assert comparable(engine.traces()) == comparable(expected.traces)
    assert engine.counts() == {rule: asdict(counts) for rule, counts in expected.counts.items()}


def _sorted(alerts: Iterable[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(alert, sort_keys=True) for alert in alerts)
