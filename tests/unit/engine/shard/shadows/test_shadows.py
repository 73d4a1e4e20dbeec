"""Shadows over random histories: engine and oracle agree, and all else is as if no shadow ran."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.in_parts import in_parts
from tests.oracle.generators.profile import EVERYTHING_AND_SHADOWS
from tests.oracle.histories.random_history import random_history
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.model import MicroBatch, Outcome
from tests.unit.engine.shard.test_against_oracle import Treatment, assert_equal, canonical, ill_treated
from tests.unit.engine.support.shard_harness import KEEPING_ALL, Engine

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

IN_PARTS = in_parts(25, with_soak=120)
SIZES: dict[str, Any] = {"transactions": 150, "micro_batches": (3, 9), "rules": (2, 5), "keys": (1, 3)}


def history(seed: int) -> list[MicroBatch]:
    rng = Random(seed)
    bucketed, commands = rng.choice([0.0, 0.3]), rng.choice([0.0, 0.4])
    abandoned = rng.choice([0.0, 0.3])
    profile = replace(
        EVERYTHING_AND_SHADOWS, bucketed=bucketed, commands=commands, abandoned=abandoned, **SIZES
    )
    return random_history(seed, profile)


@pytest.fixture(autouse=True)
def _quiet() -> None:
    # warnings of garbage events, sent on purpose
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)


@IN_PARTS
def test_random_histories_with_shadows(histories: range) -> None:
    """The engine loses its memory, and a task fails after all its work, in each of them."""
    seen = Counter[str]()
    for seed in histories:
        rng, batches = Random(seed), history(seed)
        lost, failed = (frozenset({rng.randrange(9)}) for _ in range(2))
        treatment = Treatment(rng.choice([1, 1, 2]), False, lost, failed, rng.choice([0, 3, 16]), 0, 0)
        expected = judge(batches)
        assert_equal(ill_treated(batches, treatment, None), expected)
        promoted = [event for event in _events(batches) if event.get("type") == "RuleShadowPromoted"]
        versions = {(event["ruleId"], event["definitionVersion"]) for event in promoted}
        live = {(alert["ruleId"], alert["ruleVersion"]) for alert in expected.alerts}
        seen.update(
            {
                "with shadows' alerts": bool(expected.shadow_alerts),
                "with bucketed ones": "precision" in json.dumps(expected.shadow_alerts),
                "with late ones": any(alert["late"] for alert in expected.shadow_alerts),
                "with alerts of promoted ones": bool(versions & live),
                **_arms(batches, expected),
            }
        )
    print(dict(seen))
    assert seen["with shadows' alerts"] >= 0.5 * len(histories)
    assert seen["with alerts of promoted ones"] >= 0.1 * len(histories)
    assert seen["with groups on trial"] >= 0.1 * len(histories)
    assert seen["with both arms"] >= 0.05 * len(histories)
    assert seen["with the rule's own told apart"] >= 0.1 * len(histories)
    assert seen["with bucketed ones"] >= 0.02 * len(histories)
    assert seen["with late ones"] >= 0.1 * len(histories)


@IN_PARTS
def test_others_alert_as_if_it_had_not_run(histories: range) -> None:
    """Beside the same history in which each event of a shadow is a pause of what is paused, or its opposite.

    Where its rule's alerts go is another matter: of groups on trial they are told apart.
    """
    changed = 0
    for seed in histories:
        batches = _without(history(seed), "RuleShadowPromoted")
        plain = _without(batches, "RuleShadowStarted", "RuleShadowRolledOut", "RuleShadowEnded")
        shadowed, alone = Engine(), Engine()
        shadowed.run(batches)
        alone.run(plain)
        assert _of_others(shadowed, _started(batches)) == _of_others(alone, set()), seed
        assert shadowed.rejects() == alone.rejects()
        assert shadowed.counts() == alone.counts()
        assert shadowed.counters["duplicates"] == alone.counters["duplicates"]
        assert not alone.alerts("shadow-alerts.v1")
        changed += bool(shadowed.alerts("shadow-alerts.v1"))
    assert changed >= 0.5 * len(histories)


@IN_PARTS
def test_promoted_or_not_the_version_gives_the_same_alerts(histories: range) -> None:
    """Beside the same history in which no shadow is promoted, nor ended by anything else that happens to its rule.

    All anchors are kept: a promoted version begins its own where no rule did, and a shadow does not. No backfill
    stands: its history is reopened for what is promoted, and not for a shadow.
    """
    compared = 0
    for seed in histories:
        batches = _without(_not_backfilled(history(seed)), "RuleShadowEnded")
        promoted = _last_word(batches)
        batches = _until_promoted_only(batches, promoted)
        plain = _without(batches, "RuleShadowPromoted")
        given, expected = _of_versions(batches, promoted), _of_versions(plain, promoted)
        assert given == expected, seed
        compared += bool(given)
    assert compared >= 0.05 * len(histories)


def _arms(batches: list[MicroBatch], expected: Outcome) -> dict[str, bool]:
    """What rollouts have made of the alerts of a history."""
    rolled_out = _started(batches, "RuleShadowRolledOut")
    promoted = _started(batches, "RuleShadowPromoted")
    of_trials = {_version_of(alert) for alert in expected.alerts} & rolled_out - promoted
    apart = {_version_of(alert) for alert in expected.shadow_alerts}
    return {
        "with groups on trial": bool(of_trials),
        "with both arms": bool(of_trials & apart),
        "with the rule's own told apart": bool(apart - _started(batches)),
    }


def _started(batches: list[MicroBatch], kind: str = "RuleShadowStarted") -> set[tuple[int, int]]:
    events = [event for event in _events(batches) if event.get("type") == kind]
    return {(event["ruleId"], event["definitionVersion"]) for event in events}


def _version_of(alert: Mapping[str, Any]) -> tuple[int, int]:
    return alert["ruleId"], alert["ruleVersion"]


def _of_others(engine: Engine, shadows: set[tuple[int, int]]) -> list[str]:
    """All alerts of versions that were no shadows, wherever they went."""
    alerts = [*engine.alerts(), *engine.alerts("shadow-alerts.v1")]
    return canonical([{**alert, "mode": None} for alert in alerts if _version_of(alert) not in shadows])


def _events(batches: list[MicroBatch]) -> list[dict[str, Any]]:
    """Those that can be read at all, in the order of arrival."""
    read = []
    for batch in batches:
        for raw in batch.rule_events:
            try:
                event = json.loads(raw)
            except ValueError:
                continue
            if isinstance(event, dict):
                read.append(event)
    return read


def _without(batches: list[MicroBatch], *kinds: str) -> list[MicroBatch]:
    """The history with a move that moves nothing in the place of each event of these kinds."""

    def moved(raw: bytes) -> bytes:
        try:
            event = json.loads(raw)
        except ValueError:
            return raw
        if not isinstance(event, dict) or event.get("type") not in kinds:
            return raw
        kind = "RulePaused" if event["state"] == "PAUSED" else "RuleResumed"
        return json.dumps({**event, "type": kind}).encode()

    return [replace(batch, rule_events=tuple(map(moved, batch.rule_events))) for batch in batches]


def _not_backfilled(batches: list[MicroBatch]) -> list[MicroBatch]:
    """The history with a command that changes nothing where a backfill starts."""
    start, nothing = b'"START_BACKFILL"', b'"CLEAR_STATE_ALL_STOP"'
    return [
        replace(batch, rule_events=tuple(raw.replace(start, nothing) for raw in batch.rule_events))
        for batch in batches
    ]


def _last_word(batches: list[MicroBatch]) -> set[tuple[int, int]]:
    """The shadows that were promoted and were the last that was said of their rules' definitions."""
    last: dict[int, tuple[int, int] | None] = {}
    for event in sorted(_readable(batches), key=lambda event: event["position"]):
        if event["type"] == "RuleShadowPromoted":
            last[event["ruleId"]] = event["ruleId"], event["definitionVersion"]
        elif event["type"] in ("RulePublished", "RuleShadowStarted"):
            last[event["ruleId"]] = None
    return {key for key in last.values() if key is not None}


def _readable(batches: list[MicroBatch]) -> list[dict[str, Any]]:
    kinds = ("RulePublished", "RuleShadowStarted", "RuleShadowPromoted")
    return [event for event in _events(batches) if event.get("type") in kinds and "position" in event]


def _until_promoted_only(batches: list[MicroBatch], promoted: set[tuple[int, int]]) -> list[MicroBatch]:
    """The history in which no other shadow is promoted, for that changes what a rule's versions are in both."""
    others = {
        (event["ruleId"], event["definitionVersion"])
        for event in _readable(batches)
        if event["type"] == "RuleShadowPromoted"
    } - promoted

    def moved(raw: bytes) -> bytes:
        try:
            event = json.loads(raw)
        except ValueError:
            return raw
        if not isinstance(event, dict) or event.get("type") != "RuleShadowPromoted":
            return raw
        if (event["ruleId"], event["definitionVersion"]) not in others:
            return raw
        kind = "RulePaused" if event["state"] == "PAUSED" else "RuleResumed"
        return json.dumps({**event, "type": kind}).encode()

    return [replace(batch, rule_events=tuple(map(moved, batch.rule_events))) for batch in batches]


def _of_versions(batches: list[MicroBatch], versions: set[tuple[int, int]]) -> list[str]:
    """All alerts of these versions, whatever they were when they gave them."""
    engine = Engine(event_type=KEEPING_ALL)
    engine.run(batches)
    alerts = [*engine.alerts(), *engine.alerts("shadow-alerts.v1")]
    of_them = [alert for alert in alerts if (alert["ruleId"], alert["ruleVersion"]) in versions]
    return canonical([{**alert, "mode": None} for alert in of_them])
