"""Random histories with all knobs turned on: they hold what they are for, and cuts decide nothing."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import pytest

from tests.oracle import MicroBatch, Outcome, judge
from tests.oracle.histories import EVERYTHING, random_history
from tests.oracle.model import Json
from tests.oracle.order import engine_order

SEEDS = range(30)


@cache
def histories() -> tuple[list[MicroBatch], ...]:
    return tuple(random_history(seed, EVERYTHING) for seed in SEEDS)


@cache
def outcomes() -> tuple[Outcome, ...]:
    return tuple(judge(history) for history in histories())


def events(history: list[MicroBatch]) -> list[dict[str, Json]]:
    """Every rule event that is one."""
    return [
        json.loads(raw) for batch in history for raw in batch.rule_events if raw.startswith(b'{"eventId"')
    ]


def used(definition: Json) -> list[str]:
    """What a definition has that a plain one has not."""
    assert isinstance(definition, dict)
    plain = {"firing": "every", "lateEvents": "evaluate"}
    return [name for name in ("filter", "resetOnAlert") if name in definition] + [
        name for name, value in plain.items() if definition[name] != value
    ]


@cache
def alerts_by_option() -> Counter[str]:
    """In how many histories something alerts that uses an option; `a+b` for both in one definition."""
    found: Counter[str] = Counter()
    for history, outcome in zip(histories(), outcomes(), strict=True):
        options = {
            str(event["definitionHash"]): used(event["definition"])
            for event in events(history)
            if "definitionHash" in event
        }
        seen: set[str] = set()
        for alert in outcome.alerts:
            names = [*options[str(alert["definitionHash"])], *(["partial"] if alert["partial"] else [])]
            seen.update(names)
            seen.update(f"{one}+{other}" for one in names for other in names if one < other)
            seen.update(["late"] if alert["late"] else [])
        found.update(seen)
    print({name: f"{count / len(SEEDS):.2f}" for name, count in sorted(found.items())})
    return found


@pytest.mark.parametrize(
    ("option", "share"),
    [
        ("filter", 0.6),
        ("firing", 0.6),
        ("resetOnAlert", 0.6),
        ("lateEvents", 0.5),
        ("partial", 0.6),
        ("late", 0.6),
        ("firing+resetOnAlert", 0.2),
        ("filter+partial", 0.2),
        ("firing+partial", 0.2),
        ("partial+resetOnAlert", 0.2),
    ],
)
def test_every_option_alerts_in_many_histories(option: str, share: float) -> None:
    assert alerts_by_option()[option] >= share * len(SEEDS)


def test_every_command_comes() -> None:
    commands = Counter(event.get("command") for history in histories() for event in events(history))
    assert {"CLEAR_STATE_ALL", "CLEAR_STATE_ALL_STOP", "EXPORT_RULES_CURRENT", "DELETE_RULES_ALL"} <= set(
        commands
    )
    assert commands["CLEAR_STATE_ALL"] >= 0.4 * len(SEEDS)


def test_rules_that_begin_paused_come() -> None:
    beginnings = [
        any(
            event["type"] == "RulePublished" and event["version"] == 1 and event["state"] == "PAUSED"
            for event in made
        )
        for made in map(events, histories())
    ]
    assert sum(beginnings) >= 0.1 * len(SEEDS)


def test_rules_often_begin_exactly_with_a_payment() -> None:
    starts = {
        (event["ruleId"], event["definitionVersion"], seed): event["effectiveFrom"]
        for seed, history in enumerate(histories())
        for event in events(history)
        if event["type"] == "RulePublished"
    }
    on_the_edge = {
        seed
        for seed, outcome in enumerate(outcomes())
        for alert in outcome.alerts
        if starts.get((alert["ruleId"], alert["ruleVersion"], seed)) == alert["eventTime"]
    }
    assert len(on_the_edge) >= 0.3 * len(SEEDS)


def _position(raw: bytes) -> int:
    """Where it stands; what cannot be read stands nowhere and may come first."""
    try:
        return int(json.loads(raw)["position"])
    except (ValueError, KeyError, TypeError):
        return -1


@pytest.mark.parametrize("seed", range(10))
def test_where_the_micro_batches_are_cut_decides_nothing(seed: int) -> None:
    whole = histories()[seed]
    pieces: list[MicroBatch] = []
    for batch in whole:
        raws = sorted(batch.rule_events, key=_position)
        pieces += [MicroBatch((raw,), (), ()) for raw in raws]
        pieces += [MicroBatch((), (tick,), ()) for tick in batch.ticks]
        pieces += [MicroBatch((), (), (record,)) for record in engine_order(batch.records)]
    assert judge(pieces) == outcomes()[seed]
