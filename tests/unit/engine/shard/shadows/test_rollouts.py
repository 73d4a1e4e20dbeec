"""Rollouts over random histories: only where alerts go is another matter, and no group comes back."""

from __future__ import annotations

import json
import logging
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.oracle.values.model import MicroBatch
from tests.unit.engine.shard.shadows.test_shadows import history
from tests.unit.engine.shard.test_against_oracle import canonical
from tests.unit.engine.support.shard_harness import Engine
from tripline_contracts.rules.rollout import bucket_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

HISTORIES = range(40)


@pytest.fixture(autouse=True)
def _quiet() -> None:
    # warnings of garbage events, sent on purpose
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)


def test_both_topics_together_have_what_a_mere_shadow_and_its_rule_give() -> None:
    """Beside the same history in which each rollout is a pause of what is paused, or its opposite."""
    seen = Counter[str]()
    for seed in HISTORIES:
        batches = history(seed)
        rolled_out, shadowed = Engine(), Engine()
        rolled_out.run(batches)
        shadowed.run(_not_rolled_out(batches))
        assert _all_alerts(rolled_out) == _all_alerts(shadowed), seed
        assert rolled_out.counts() == shadowed.counts()
        seen["with alerts elsewhere"] += canonical(rolled_out.alerts()) != canonical(shadowed.alerts())
    print(dict(seen))
    assert seen["with alerts elsewhere"] >= 0.1 * len(HISTORIES)


def test_widening_moves_no_group_back() -> None:
    """Shares widen one after another; what was once on trial stays so until the shadow has ended."""
    seen = Counter[str]()
    for seed in HISTORIES:
        modes = _by_group(history(seed))
        for (rule_id, _, group), told in modes.items():
            before = told.index("live") if "live" in told else len(told)
            assert "shadow" not in told[before:], seed
            seen["groups on trial"] += "live" in told
            seen["groups that came to it"] += 0 < before < len(told)
            seen["groups beside"] += "live" not in told
            assert 0 <= bucket_of(rule_id, json.loads(group)) < 100
    print(dict(seen))
    assert seen["groups on trial"] >= 0.2 * len(HISTORIES)
    # few histories are long enough; a case by hand is in tests/unit/oracle/rules/test_rollout.py
    assert seen["groups that came to it"] >= 1
    assert seen["groups beside"] >= 0.5 * len(HISTORIES)


def _by_group(batches: list[MicroBatch]) -> dict[tuple[int, int, str], list[str]]:
    """By rule, shadow and group the modes of its alerts, in the order in which they were given.

    Without what is promoted: it is the rule's own then, and may be beside the next shadow.
    """
    engine = Engine()
    engine.run(batches)
    started = _versions(batches, "RuleShadowStarted") - _versions(batches, "RuleShadowPromoted")
    modes: dict[tuple[int, int, str], list[str]] = {}
    for record in engine.out:
        if record.topic in ("alerts.v1", "shadow-alerts.v1"):
            alert = json.loads(record.value)
            if (alert["ruleId"], alert["ruleVersion"]) in started:
                key = alert["ruleId"], alert["ruleVersion"], json.dumps(alert["group"], sort_keys=True)
                modes.setdefault(key, []).append(alert["mode"])
    return modes


def _not_rolled_out(batches: list[MicroBatch]) -> list[MicroBatch]:
    def moved(raw: bytes) -> bytes:
        event = _read(raw)
        if event.get("type") != "RuleShadowRolledOut":
            return raw
        kind = "RulePaused" if event["state"] == "PAUSED" else "RuleResumed"
        return json.dumps({**event, "type": kind}).encode()

    return [replace(batch, rule_events=tuple(map(moved, batch.rule_events))) for batch in batches]


def _versions(batches: list[MicroBatch], kind: str) -> set[tuple[int, int]]:
    events = [_read(raw) for batch in batches for raw in batch.rule_events]
    return {(event["ruleId"], event["definitionVersion"]) for event in events if event.get("type") == kind}


def _read(raw: bytes) -> dict[str, Any]:
    try:
        event = json.loads(raw)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _all_alerts(engine: Engine) -> list[str]:
    alerts = [*engine.alerts(), *engine.alerts("shadow-alerts.v1")]
    return canonical([{**alert, "mode": None} for alert in alerts])
