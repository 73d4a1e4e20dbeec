"""Rollouts over random histories: only where alerts go is another matter, and no group comes back."""

from __future__ import annotations

import json
import logging
from collections import Counter, defaultdict
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.in_parts import in_parts
from tests.oracle.generators.profile import EVERYTHING_AND_ROLLOUTS
from tests.oracle.histories.random_history import random_history
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.model import MicroBatch
from tests.unit.engine.shard.shadows.test_shadows import history
from tests.unit.engine.shard.test_against_oracle import Treatment, assert_equal, canonical, ill_treated
from tests.unit.engine.support.shard_harness import Engine
from tripline_contracts.rules.rollout import bucket_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def widened(seed: int) -> list[MicroBatch]:
    """Many groups change over to shadows in it."""
    rng = Random(seed)
    bucketed, commands = rng.choice([0.0, 0.3]), rng.choice([0.0, 0.2])
    return random_history(seed, replace(EVERYTHING_AND_ROLLOUTS, bucketed=bucketed, commands=commands))


@pytest.fixture(autouse=True)
def _quiet() -> None:
    # warnings of garbage events, sent on purpose
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)


@in_parts(15, with_soak=40)
def test_both_topics_together_have_what_a_mere_shadow_and_its_rule_give(histories: range) -> None:
    """Beside the same history in which each rollout is a pause of what is paused, or its opposite."""
    seen = Counter[str]()
    for seed in histories:
        batches = history(seed)
        rolled_out, shadowed = Engine(), Engine()
        rolled_out.run(batches)
        shadowed.run(_not_rolled_out(batches))
        assert _all_alerts(rolled_out) == _all_alerts(shadowed), seed
        assert rolled_out.counts() == shadowed.counts()
        seen["with alerts elsewhere"] += canonical(rolled_out.alerts()) != canonical(shadowed.alerts())
    print(dict(seen))
    assert seen["with alerts elsewhere"] >= 0.1 * len(histories)


@in_parts(12, with_soak=36)
def test_groups_change_over_as_the_oracle_says_and_none_comes_back(histories: range) -> None:
    """Shares widen one after another, while the engine loses its memory, and a task fails after all its work."""
    seen = Counter[str]()
    for seed in histories:
        rng, batches = Random(seed), widened(seed)
        lost, failed = (frozenset({rng.randrange(10)}) for _ in range(2))
        treatment = Treatment(rng.choice([1, 1, 2]), False, lost, failed, rng.choice([0, 3, 16]), 0, 0)
        engine = ill_treated(batches, treatment, None)
        assert_equal(engine, judge(batches))
        shares, modes = _shares(batches), _by_group(engine, batches)
        for (rule_id, version, group), told in modes.items():
            before = told.index("live") if "live" in told else len(told)
            assert "shadow" not in told[before:], seed
            edge = bucket_of(rule_id, json.loads(group))
            seen["groups on trial"] += "live" in told
            seen["groups that came to it"] += 0 < before < len(told)
            seen["groups beside"] += "live" not in told
            seen["first beyond a share"] += edge in shares[rule_id, version]
            seen["last within a share"] += edge + 1 in shares[rule_id, version]
        seen["histories with several that came"] += _came(modes) > 1
    print(dict(seen))
    assert min(seen["groups on trial"], seen["groups beside"]) >= 2 * len(histories)
    assert seen["groups that came to it"] >= len(histories)
    assert seen["histories with several that came"] >= 0.1 * len(histories)
    assert min(seen["first beyond a share"], seen["last within a share"]) >= 0.5 * len(histories)


Modes = dict[tuple[int, int, str], list[str]]


def _by_group(engine: Engine, batches: list[MicroBatch]) -> Modes:
    """By rule, shadow and group the modes of its alerts, in the order in which they were given.

    Without what is promoted: it is the rule's own then, and may be beside the next shadow.
    """
    started = _versions(batches, "RuleShadowStarted") - _versions(batches, "RuleShadowPromoted")
    modes: Modes = {}
    for record in engine.out:
        if record.topic in ("alerts.v1", "shadow-alerts.v1"):
            alert = json.loads(record.value)
            if (alert["ruleId"], alert["ruleVersion"]) in started:
                key = alert["ruleId"], alert["ruleVersion"], json.dumps(alert["group"], sort_keys=True)
                modes.setdefault(key, []).append(alert["mode"])
    return modes


def _came(modes: Modes) -> int:
    """How many groups had alerts of a shadow before and after they changed over to it."""
    return sum({"live", "shadow"} <= {*told} for told in modes.values())


def _shares(batches: list[MicroBatch]) -> dict[tuple[int, int], set[int]]:
    """Percents to which each shadow was rolled out."""
    shares: dict[tuple[int, int], set[int]] = defaultdict(set)
    for event in _events(batches):
        if event.get("type") == "RuleShadowRolledOut":
            shares[event["ruleId"], event["definitionVersion"]].add(event["percent"])
    return shares


def _not_rolled_out(batches: list[MicroBatch]) -> list[MicroBatch]:
    def moved(raw: bytes) -> bytes:
        event = _read(raw)
        if event.get("type") != "RuleShadowRolledOut":
            return raw
        kind = "RulePaused" if event["state"] == "PAUSED" else "RuleResumed"
        return json.dumps({**event, "type": kind}).encode()

    return [replace(batch, rule_events=tuple(map(moved, batch.rule_events))) for batch in batches]


def _versions(batches: list[MicroBatch], kind: str) -> set[tuple[int, int]]:
    return {
        (event["ruleId"], event["definitionVersion"])
        for event in _events(batches)
        if event.get("type") == kind
    }


def _events(batches: list[MicroBatch]) -> list[dict[str, Any]]:
    return [_read(raw) for batch in batches for raw in batch.rule_events]


def _read(raw: bytes) -> dict[str, Any]:
    try:
        event = json.loads(raw)
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


def _all_alerts(engine: Engine) -> list[str]:
    alerts = [*engine.alerts(), *engine.alerts("shadow-alerts.v1")]
    return canonical([{**alert, "mode": None} for alert in alerts])
