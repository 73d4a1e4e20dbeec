"""A rule that is tried gives the alerts that it would have given live, had it been there from the beginning."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.in_parts import in_parts
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, payment
from tests.oracle.generators.profile import (
    EVERYTHING_AND_ENTRIES,
    EVERYTHING_AND_MORE,
    THE_WHOLE_LANGUAGE,
    Profile,
)
from tests.oracle.histories.random_history import random_history
from tests.oracle.histories.seeds import seeds
from tests.oracle.values.model import MicroBatch
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.rebuild.support.recorded_run import Recording
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_contracts.errors import ContractError
from tripline_contracts.rules.rule_definition import parse
from tripline_engine.backtest.backtest import backtest
from tripline_engine.backtest.history import history_of
from tripline_engine.backtest.tally import Tally
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.certificate.span_alert import SpanAlert
from tripline_engine.errors import RecordsMissing
from tripline_engine.prover.settings import Judged
from tripline_engine.topic_names import TRANSACTIONS

TRIED = 900_001
"""No rule of a random history has such an id."""
FEW_STEPS = (3, 6)
"""Micro-batches of a history: an engine's time goes by their number, and as much happens in fewer of them."""
PROFILES = [
    EVERYTHING_AND_MORE,
    EVERYTHING_AND_ENTRIES,
    *[THE_WHOLE_LANGUAGE] * 3,
    replace(Profile(), commands=0.4),
]
FORMS = {
    "with names": ('"list"', '"parameter"'),
    "chained": ('"conditions"',),
    "of parties": ('"account"',),
    "of parties' sides": ('"side"',),
    "held against a measure": ('"measure"',),
    "weighted": ('"weighted"',),
    "with deviations": ("STDDEV", "plusDeviations"),
    "of order": ("CHANGED", "SECONDS_SINCE"),
    "in steps": ('"step"',),
}
"""What a definition's JSON has in it, by the form of rule."""
OF_THE_MOMENT = ("detectedAt", "mode")


def tried(definition: dict[str, Any], rule_id: int = TRIED) -> TriedRule:
    return TriedRule(rule_id, "tried", parse(definition, TRANSACTION))


def tried_on(
    recording: Recording, rules: Sequence[TriedRule], span: Span, shards: int = 1
) -> list[SpanAlert]:
    alerts: list[SpanAlert] = []
    journals = recording.journals
    history = history_of(rules, span, None, journals, TRANSACTION)
    backtest(rules, span, history, journals, Judged(TRANSACTION, "data"), alerts.append, shards)
    return alerts


def lived(batches: Sequence[MicroBatch], rule: TriedRule, span: Span) -> list[dict[str, Any]]:
    """The alerts of a live engine that got the rule before everything else; all other events move up by one."""
    first = {
        "eventId": "x", "type": "RulePublished", "position": 1, "occurredAt": 0, "actor": "ada", "widestWindows": [],
        "ruleId": rule.rule_id, "version": 1, "state": "ACTIVE", "name": rule.name,
        "definition": rule.definition.to_json(), "definitionHash": rule.definition.hash,
        "effectiveFrom": span.first, "effectiveUntil": span.until,
    }  # fmt: skip
    moved = [replace(one, rule_events=tuple(map(up_by_one, one.rule_events))) for one in batches]
    moved[0] = replace(moved[0], rule_events=(json.dumps(first).encode(), *moved[0].rule_events))
    engine = Engine(1)
    engine.run(moved)
    return [alert for alert in engine.alerts() if alert["ruleId"] == rule.rule_id]


def up_by_one(data: bytes) -> bytes:
    """Garbage stays what it is."""
    try:
        event = json.loads(data)
        return json.dumps({**event, "position": event["position"] + 1}).encode()
    except (ValueError, LookupError, TypeError):
        return data


def said(alerts: Sequence[dict[str, Any]]) -> list[str]:
    """All of each alert but what is of the moment, in the order of their ids."""
    kept = [{name: value for name, value in one.items() if name not in OF_THE_MOMENT} for one in alerts]
    return sorted(json.dumps(one, sort_keys=True) for one in kept)


def definitions(batches: Sequence[MicroBatch]) -> Iterator[dict[str, Any]]:
    """Of all versions that were published: plain ones, chained, bucketed, with lists and parameters, judged again."""
    for data in (data for one in batches for data in one.rule_events):
        try:
            event = json.loads(data)
            parse(event["definition"], TRANSACTION)
        except (ValueError, LookupError, TypeError, ContractError):
            continue
        yield event["definition"]


@in_parts(16, with_soak=100)
@pytest.mark.slow
def test_a_tried_rule_gives_what_it_would_have_given_live(
    histories: range,
    record_property: Callable[[str, object], None],
) -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    seen: Counter[str] = Counter()

    def equal(seed: int, profile: Profile, shards: int) -> None:
        batches, rng = random_history(seed, replace(profile, micro_batches=FEW_STEPS)), Random(seed)
        engine = Engine(2)
        engine.run(batches)
        choice = list(definitions(batches))
        rng.shuffle(choice)
        # the form that the fewest so far have alerted with
        definition = min(choice, key=lambda one: min((seen[form] for form in forms_of(one)), default=99))
        rule = tried(definition)
        span = some_span(batches, rng)
        live = lived(batches, rule, span)
        again = [one.alert for one in tried_on(Recording(batches, engine.out), [rule], span, shards)]
        assert said(again) == said(live)
        seen["histories"] += 1
        seen["with alerts"] += bool(live)
        seen["alerts"] += len(live)
        seen["of a part"] += span.first > START and bool(live)
        seen.update(forms_of(definition) if live else ())

    for seed, draw in seeds(histories):
        equal(seed, draw.choice(PROFILES), draw.choice([1, 1, 2]))
    record_property("tried", f"{dict(seen)}")
    assert seen["with alerts"] > seen["histories"] / 3
    assert min(seen[form] for form in ("of a part", *FORMS)) > 0


def forms_of(definition: dict[str, Any]) -> list[str]:
    """Which of the forms it has."""
    text = json.dumps(definition)
    return [form for form, words in FORMS.items() if any(word in text for word in words)]


def some_span(batches: Sequence[MicroBatch], rng: Random) -> Span:
    """Half of the time all of it; else between two record times."""
    times = sorted(record.record_time for one in batches for record in one.records)
    if not times or rng.random() < 0.5:
        return Span(0, 1 << 50)
    first, until = sorted(rng.choices(times, k=2))
    return Span(first, until + 1)


def three_a_minute(minutes: int = 10) -> tuple[list[MicroBatch], Registry]:
    """Payments of one payee, 0 to 2 ms after each minute; a list that gets its payer after five minutes."""
    registry = Registry()
    batches = [batch(ticks=[START])]
    for minute in range(minutes):
        now = START + minute * 60_000
        batches.append(batch(ticks=[now], records=[payment(3 * minute + n, now + n) for n in range(3)]))
    return batches, registry


def recorded(batches: Sequence[MicroBatch]) -> Recording:
    engine = Engine(1)
    engine.run(batches)
    return Recording(batches, engine.out)


COUNT = {"aggregatorFunctionType": "COUNT", "groupingKeyNames": ["payeeId"], "limitOperatorType": ">="}


def test_history_without_any_rule_is_enough() -> None:
    batches, _ = three_a_minute()
    alerts = tried_on(
        recorded(batches), [tried({**COUNT, "limit": 3, "windowSeconds": 300})], Span(0, 1 << 50)
    )
    assert len(alerts) == 28
    assert [alert.alert["value"] for alert in alerts[:3]] == ["3", "4", "5"]


def test_windows_are_full_where_the_span_begins() -> None:
    batches, _ = three_a_minute()
    rule = tried({**COUNT, "limit": 1, "windowSeconds": 120})
    span = Span(START + 5 * 60_000, START + 6 * 60_000)
    alerts = tried_on(recorded(batches), [rule], span)
    values = [alert.alert["value"] for alert in alerts]
    assert values == said_live(batches, rule, span)
    assert int(values[0]) > 3


def said_live(batches: Sequence[MicroBatch], rule: TriedRule, span: Span) -> list[str]:
    return [alert["value"] for alert in lived(batches, rule, span)]


def test_a_list_counts_from_when_it_counted() -> None:
    batches, registry = three_a_minute()
    change = registry.change_list("watched", ["25"], START + 5 * 60_000)
    batches[6] = replace(batches[6], rule_events=(change,))
    rule = tried(
        {**COUNT, "limit": 1, "windowSeconds": 1, "filter": {"field": "payeeId", "in": {"list": "watched"}}}
    )
    times = [alert.event_time for alert in tried_on(recorded(batches), [rule], Span(0, 1 << 50))]
    assert times
    assert min(times) >= START + 5 * 60_000


def test_rules_are_tried_side_by_side_and_counted() -> None:
    batches, _ = three_a_minute()
    rules = [
        tried({**COUNT, "limit": 3, "windowSeconds": 300}, 1),
        tried({**COUNT, "limit": 30, "windowSeconds": 3600}, 2),
    ]
    tally = Tally(rules, TRANSACTION)
    alerts = tried_on(recorded(batches), rules, Span(0, 1 << 50), shards=2)
    for alert in alerts:
        tally.take(alert)
    live = [
        replace(alert, alert={**alert.alert, "ruleId": 17}) for alert in alerts if alert.alert["ruleId"] == 1
    ][5:]
    first, second = tally.to_json({1: 17, 2: 17}, live)
    assert (first["alerts"], first["groups"], second["alerts"]) == (28, 1, 1)
    assert first["beside"] == {"ruleId": 17, "both": 23, "onlyTried": 5, "onlyLive": 0}
    assert second["beside"] == {"ruleId": 17, "both": 1, "onlyTried": 0, "onlyLive": 22}
    assert sum(first["hours"].values()) == 28
    assert first["topGroups"][0]["alerts"] == 28


def test_what_the_span_needs_and_nobody_has_is_refused() -> None:
    batches, _ = three_a_minute(60)
    recording = recorded(batches)
    recording.topics[TRANSACTIONS].low[0] = 30
    rule = tried({**COUNT, "limit": 1, "windowSeconds": 60})
    with pytest.raises(RecordsMissing, match="a backtest of this span needs what came since"):
        tried_on(recording, [rule], Span(START, START + 3_600_000))
