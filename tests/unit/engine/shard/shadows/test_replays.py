"""What is replayed of histories with shadows says of every alert, and of what follows, what the engine itself said.

Versions that were shadows, and are the rules' own since, are looked for first: they read a history of their own.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.in_parts import in_parts
from tests.oracle.generators.profile import EVERYTHING_AND_SHADOWS
from tests.oracle.histories.random_history import random_history
from tests.oracle.values.model import MicroBatch
from tests.unit.engine.backtest.test_backtest import definitions, lived, said, some_span, tried, tried_on
from tests.unit.engine.certificate.support.judged_run import ALWAYS, Judged
from tests.unit.engine.prover.support.proofs import JUDGED, Run, budget, judged
from tests.unit.engine.rebuild.support.recorded_run import Recording
from tests.unit.engine.rebuild.test_replay import engine_of, rebuilt
from tests.unit.engine.support.shard_harness import Engine
from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.prover.judgement import Asked, judgement_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

IN_PARTS = in_parts(7, with_soak=30)
PROFILE = replace(
    EVERYTHING_AND_SHADOWS, micro_batches=(3, 7), commands=0.3, transactions=150, rules=(2, 5), keys=(1, 3)
)
TOLD = ("alerts.v1", "shadow-alerts.v1", "rejected-transactions.v1", "rule-traces.v1")


@pytest.fixture(autouse=True)
def _quiet() -> None:
    # warnings of garbage events, sent on purpose
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)


def promoted(batches: Sequence[MicroBatch]) -> set[tuple[int, int]]:
    """Rule and version of each shadow that became its rule's own."""
    keys = set()
    for raw in (raw for one in batches for raw in one.rule_events):
        try:
            event = json.loads(raw)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("type") == "RuleShadowPromoted":
            keys.add((event["ruleId"], event["definitionVersion"]))
    return keys


@IN_PARTS
def test_alerts_are_proven_and_judgements_are_those_of_the_versions_in_force(histories: range) -> None:
    seen = Counter[str]()
    for seed in histories:
        history, rng = random_history(seed, PROFILE), Random(seed)
        run, keys = judged(history, shards=rng.choice([1, 1, 2])), promoted(history)
        once_shadows = [alert for alert in run.alerts if (alert["ruleId"], alert["ruleVersion"]) in keys]
        others = [alert for alert in run.alerts if alert not in once_shadows]
        for alerts in (once_shadows, others):
            for alert in rng.sample(alerts, min(3, len(alerts))):
                verification = run.verify(alert)
                assert verification.matches, (alert, [one.to_json() for one in verification.differences])
                seen["promoted" if alert in once_shadows else "others"] += 1
                seen["judged"] += judged_likewise(run, alert)
    assert min(seen["promoted"], seen["others"], seen["judged"]) > len(histories), dict(seen)


def judged_likewise(run: Run, alert: dict[str, Any]) -> bool:
    """Whether a judgement tells of it; fails where that is another one, or there is one of a shadow."""
    transaction = alert["transaction"]
    asked = Asked(transaction["transactionId"], transaction["eventTime"])
    told = judgement_of(asked, run.recording.journals, JUDGED, budget())
    if alert["partial"] or told["transaction"] != transaction:
        return False  # judged again since, or of several with one id and time another
    same = [one for one in run.alerts if one["transaction"] == transaction and not one["partial"]]
    assert {rule["alertId"] for rule in told["rules"]} - {None} == {one["alertId"] for one in same}
    rule = {(one["ruleId"], one["side"]): one for one in told["rules"]}[alert["ruleId"], alert.get("side")]
    if rule["version"] != alert["ruleVersion"]:
        return False  # of a shadow that is rolled out, and counts for this group
    assert (rule["value"], rule["limit"], rule["warm"]) == (alert["value"], alert["limit"], alert["warm"])
    return True


@IN_PARTS
def test_a_certificate_finds_every_alert_and_none_of_a_shadow(histories: range) -> None:
    seen = Counter[str]()
    for seed in histories:
        history, rng = random_history(seed, PROFILE), Random(seed)
        live = Engine(rng.choice([1, 2]))
        live.run(history)
        made = Judged.of(history, live.out, Random(seed)).prove(ALWAYS, rng.choice([1, 2]))
        assert made.matches, made.document["differences"]
        ids = {alert["alertId"] for alert in live.alerts()}
        assert made.document["alerts"]["count"] == len(ids)
        keys = promoted(history)
        seen["promoted"] += sum((one["ruleId"], one["ruleVersion"]) in keys for one in live.alerts())
        seen["shadows"] += len(live.alerts("shadow-alerts.v1"))
    assert min(seen["promoted"], seen["shadows"]) > len(histories), dict(seen)


@IN_PARTS
def test_a_rebuilt_engine_goes_on_with_the_shadows_that_ran(histories: range) -> None:
    seen = Counter[str]()
    for seed in histories:
        history, rng = random_history(seed, PROFILE), Random(seed)
        before, after = rng.choice([(1, 1), (2, 2), (1, 2), (2, 1)])
        cut = max(1, int(len(history) * rng.uniform(0.3, 0.9)))
        live = Engine(before)
        live.run(history[:cut])
        so_far = len(live.out)
        with tempfile.TemporaryDirectory() as folder:
            state, _ = rebuilt(Recording(history[:cut], live.out, Path(folder)), after)
            other = engine_of(state, after, Path(folder), live._offsets)
        running = max(live.gauge("shadows"))
        for engine in (live, other):
            engine.run(history[cut:])
        assert told(other.out) == told(live.out[so_far:]), seed
        seen["with shadows at the cut"] += running > 0
        seen["alerts of shadows"] += len(other.alerts("shadow-alerts.v1"))
    assert seen["with shadows at the cut"] > len(histories) // 4, dict(seen)
    assert seen["alerts of shadows"] > len(histories), dict(seen)


def told(records: Sequence[OutRecord]) -> Counter[tuple[str, bytes | None, bytes]]:
    return Counter((record.topic, record.key, record.value) for record in records if record.topic in TOLD)


@IN_PARTS
def test_a_rule_is_tried_as_if_no_shadow_had_run(histories: range) -> None:
    """A definition that was a shadow's as well; beside the engine that has had the rule from the beginning."""
    with_alerts = 0
    for seed in histories:
        history, rng = random_history(seed, PROFILE), Random(seed)
        engine = Engine(2)
        engine.run(history)
        rule, span = tried(rng.choice(list(definitions(history)))), some_span(history, rng)
        again = tried_on(Recording(history, engine.out), [rule], span, rng.choice([1, 1, 2]))
        live = lived(history, rule, span)
        assert said([one.alert for one in again]) == said(live), seed
        with_alerts += bool(live)
    assert with_alerts >= len(histories) // 4
