"""Random histories with every option turned on: they hold what they are for, and cuts decide nothing."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from tests.oracle import MicroBatch, Outcome, judge
from tests.oracle.judgement.record_order import engine_order
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json
from tests.unit.oracle.support.everything import SEEDS, events, histories, outcomes

pytestmark = pytest.mark.slow  # all of them together


def options_used(definition: Json) -> list[str]:
    """What a definition has that a plain one has not."""
    assert isinstance(definition, dict)
    plain = {"firing": "every", "lateEvents": "evaluate"}
    return [
        *[name for name in ("filter", "resetOnAlert", "cooldownSeconds", "conditions") if name in definition],
        *[name for name, value in plain.items() if definition[name] != value],
        *[name for name in ("COUNT_DISTINCT",) if definition.get("aggregatorFunctionType") == name],
        *[name for name in ("reevaluate",) if definition["lateEvents"] == name],
    ]


@cache
def alerts_by_option() -> Counter[str]:
    """In how many histories something alerts that uses an option; `a+b` for both in one definition."""
    counts: Counter[str] = Counter()
    for history, outcome in zip(histories(), outcomes(), strict=True):
        options = {
            str(event["definitionHash"]): options_used(event["definition"])
            for event in events(history)
            if "definitionHash" in event
        }
        seen: set[str] = set()
        for alert in outcome.alerts:
            names = [*options[str(alert["definitionHash"])], *(["partial"] if alert["partial"] else [])]
            seen.update(names)
            seen.update(f"{one}+{other}" for one in names for other in names if one < other)
            seen.update(["late"] if alert["late"] else [])
            if isinstance(alert["late"], dict) and "transactionId" in alert["late"]:
                seen.update(f"again+{name}" for name in ["", *names])
        counts.update(seen)
    print({name: f"{count / len(SEEDS):.2f}" for name, count in sorted(counts.items())})
    return counts


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
        ("again+", 0.3),
        ("again+filter", 0.1),
        ("again+COUNT_DISTINCT", 0.05),
        ("reevaluate", 0.6),
        ("COUNT_DISTINCT", 0.5),
        ("COUNT_DISTINCT+filter", 0.2),
        ("COUNT_DISTINCT+firing", 0.2),
        ("COUNT_DISTINCT+partial", 0.2),
        ("COUNT_DISTINCT+resetOnAlert", 0.2),
        ("cooldownSeconds", 0.5),
        ("cooldownSeconds+filter", 0.2),
        ("cooldownSeconds+firing", 0.2),
        ("cooldownSeconds+partial", 0.2),
        ("cooldownSeconds+resetOnAlert", 0.2),
        ("COUNT_DISTINCT+cooldownSeconds", 0.2),
        ("conditions", 0.6),
        ("conditions+filter", 0.2),
        ("conditions+firing", 0.2),
        ("conditions+cooldownSeconds", 0.2),
        ("conditions+lateEvents", 0.1),
        ("conditions+partial", 0.2),
    ],
)
def test_every_option_alerts_in_many_histories(option: str, share: float) -> None:
    assert alerts_by_option()[option] >= share * len(SEEDS)


def without_cooldowns(history: list[MicroBatch]) -> list[MicroBatch]:
    """The same history; what cannot be read as an event is left as it is."""
    batches: list[MicroBatch] = []
    for batch in history:
        made: list[bytes] = []
        for raw in batch.rule_events:
            event = json.loads(raw) if raw.startswith(b'{"eventId"') else {}
            if event.get("definition", {}).pop("cooldownSeconds", None) is not None:
                event["definitionHash"] = definition_hash(event["definition"])
                made.append(json.dumps(event).encode())
            else:
                made.append(raw)
        batches.append(replace(batch, rule_events=tuple(made)))
    return batches


def test_cooldowns_keep_alerts_back_and_end_on_the_millisecond() -> None:
    kept_back, at_the_end = 0, 0
    for history, outcome in zip(histories(), outcomes(), strict=True):
        given = {alert["alertId"] for alert in outcome.alerts}
        kept_back += any(alert["alertId"] not in given for alert in judge(without_cooldowns(history)).alerts)
        at_the_end += bool(ends_of_cooldowns(history, outcome))
    print(f"kept back: {kept_back / len(SEEDS):.2f}, at the end: {at_the_end / len(SEEDS):.2f}")
    assert kept_back >= 0.5 * len(SEEDS)
    assert at_the_end >= 0.1 * len(SEEDS)


def without_changes(history: list[MicroBatch]) -> list[MicroBatch]:
    """The same history, in which no name ever says anything."""
    return [
        replace(batch, rule_events=tuple(raw for raw in batch.rule_events if not is_change(raw)))
        for batch in history
    ]


def is_change(raw: bytes) -> bool:
    return b'"ListChanged"' in raw or b'"ParameterChanged"' in raw


def test_lists_and_parameters_make_a_difference() -> None:
    differ = 0
    for history, outcome in zip(histories(), outcomes(), strict=True):
        given = {alert["alertId"] for alert in outcome.alerts}
        differ += given != {alert["alertId"] for alert in judge(without_changes(history)).alerts}
    print(f"other alerts without the changes: {differ / len(SEEDS):.2f}")
    assert differ >= 0.25 * len(SEEDS)


def test_of_one_name_several_changes_come_in_a_micro_batch() -> None:
    having = sum(any(changed_twice(batch) for batch in history) for history in histories())
    assert having >= 0.5 * len(SEEDS)


def changed_twice(batch: MicroBatch) -> bool:
    """Of events that came twice one counts."""
    made = [json.loads(raw) for raw in batch.rule_events if is_change(raw)]
    changes = {(event["position"], event["type"], str(event["name"])) for event in made}
    return max(Counter((kind, name) for _, kind, name in changes).values(), default=0) > 1


def ends_of_cooldowns(history: list[MicroBatch], outcome: Outcome) -> list[Json]:
    """The alerts that came exactly when the cooldown of another of their version and group was over."""
    cooldowns = {
        (event["ruleId"], event["definitionVersion"]): 1000 * int(str(definition["cooldownSeconds"]))
        for event in events(history)
        if isinstance(definition := event.get("definition"), dict) and "cooldownSeconds" in definition
    }
    times = {
        (alert["ruleId"], alert["ruleVersion"], str(alert["group"]), alert["eventTime"])
        for alert in outcome.alerts
    }
    return [
        alert["alertId"]
        for alert in outcome.alerts
        if (of := (alert["ruleId"], alert["ruleVersion"])) in cooldowns
        and (*of, str(alert["group"]), int(str(alert["eventTime"])) - cooldowns[of]) in times
    ]


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
