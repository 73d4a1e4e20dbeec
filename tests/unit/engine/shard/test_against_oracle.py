"""The engine against the oracle: equal alerts, byte for byte, over random histories; and all else it says. And each
history is proven: its alerts are those that a replay of what the engine has read and recorded brings about.

Each example draws a history's seed and how the engine is ill-treated meanwhile: how many shards, when its memory is
lost, when a task fails after all its work and is tried again, and whether its arrays are files that two worker
processes use by turns. None of that may show in what it says.
"""

from __future__ import annotations

import json
import logging
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.oracle.generators.profile import (
    EVERYTHING,
    EVERYTHING_AND_ENTRIES,
    EVERYTHING_AND_MEASURES,
    EVERYTHING_AND_ORDER,
    EVERYTHING_AND_PARTIES,
    EVERYTHING_AND_SHADOWS,
    EVERYTHING_AND_STEPS,
    EVERYTHING_AND_TESTS,
    EVERYTHING_AND_WEIGHTS,
    THE_WHOLE_LANGUAGE,
    Profile,
)
from tests.oracle.histories.random_history import joined, random_history
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.model import MicroBatch, Outcome
from tests.unit.engine.certificate.support.judged_run import Judged
from tests.unit.engine.support.shard_harness import Engine
from tripline_engine.domain.buckets import bucket_window
from tripline_engine.domain.firing import shared_limits
from tripline_engine.domain.groups import large_groups
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING, ShardTuning

CHUNKS, HISTORIES_PER_CHUNK = 5, 200
"""A thousand; the rest of ten thousand is in `make soak`."""
CHUNKS_OF_SOAK = 45


@dataclass(frozen=True)
class Treatment:
    """What is done to the engine in the course of a history; the sets name micro-batches.

    :ivar small: up to so many transactions groups are without states
    :ivar few: and up to so many buckets, where windows are of buckets
    """

    shards: int
    mapped: bool
    memory_lost: frozenset[int]
    task_failed: frozenset[int]
    small: int
    few: int
    shared: int


# Files cost several times what memory does, and each shard and each micro-batch about the same again: few need many.
TREATMENTS = st.builds(
    Treatment,
    shards=st.sampled_from([1, 1, 1, 1, 1, 1, 2, 3]),
    mapped=st.sampled_from([False] * 19 + [True]),
    memory_lost=st.frozensets(st.integers(0, 9), max_size=2),
    task_failed=st.frozensets(st.integers(0, 9), max_size=2),
    # as in service few groups of a random history would ever be large
    small=st.sampled_from([0, 1, 3, large_groups.SMALL_GROUP_ROWS]),
    few=st.sampled_from([0, 1, bucket_window.FEW_BUCKETS]),
    shared=st.sampled_from([0, 0, 20, 1 << 20]),
)
# Small numbers of everything collide more; the rest is the generator's own. A twelfth of the histories use the plain
# language, the others all of it: a twelfth with nothing more, one with lists that change by entries, two with every
# test that a filter knows, one of them with buckets, one with limits that are measured, one with deviations and
# aggregates that look at the transaction before, one with parties, one with shadows, one with amounts in steps, one
# with weights and one with all of that but shadows at once; operators command in half of all.
PROFILE = st.builds(
    replace,
    st.sampled_from(
        [
            Profile(),
            EVERYTHING,
            EVERYTHING_AND_ENTRIES,
            EVERYTHING_AND_TESTS,
            replace(EVERYTHING_AND_TESTS, bucketed=0.5),
            EVERYTHING_AND_MEASURES,
            EVERYTHING_AND_ORDER,
            EVERYTHING_AND_PARTIES,
            EVERYTHING_AND_SHADOWS,
            EVERYTHING_AND_STEPS,
            EVERYTHING_AND_WEIGHTS,
            THE_WHOLE_LANGUAGE,
        ]
    ),
    transactions=st.sampled_from([100, 101, 103]),
    micro_batches=st.sampled_from([(1, 3), (2, 6), (4, 8)]),
    keys=st.sampled_from([(1, 1), (1, 4), (2, 6)]),
    rules=st.sampled_from([(3, 5), (3, 3)]),
    jump_per_batch=st.sampled_from([0.07, 0.3]),
    equal_time=st.sampled_from([0.12, 0.5]),
    commands=st.sampled_from([0.0, 0.0, 0.4, 0.9]),
    abandoned=st.sampled_from([0.0, 0.3]),
    expiring=st.sampled_from([0.0, 0.4]),
)

SOAK_PROFILE = st.builds(
    replace,
    PROFILE,
    transactions=st.sampled_from([200, 201, 203]),
    micro_batches=st.sampled_from([(1, 3), (3, 10), (8, 20)]),
    rules=st.sampled_from([(3, 8), (3, 4)]),
)
"""More transactions, rules and micro-batches, which cost as much more."""

SHARES_JOINED = st.sampled_from([0.0, 0.0, 0.3, 0.7])
"""Of the micro-batches, how many come together with the one before."""
OTHER_SHARDS = st.sampled_from([1, 1, 1, 2])
"""In how many shards a replay judges, whatever the engine had."""


def ill_treated(
    batches: list[MicroBatch],
    treatment: Treatment,
    directory: Path | None,
    tuning: ShardTuning = DEFAULT_TUNING,
) -> Engine:
    """An engine that has taken the history under that treatment."""
    anchor = replace(
        tuning.anchor,
        small_group_rows=treatment.small,
        few_buckets=treatment.few,
        shared_rows=treatment.shared,
    )
    engine = Engine(treatment.shards, directory, tuning=replace(tuning, anchor=anchor))
    for number, batch in enumerate(batches):
        if number in treatment.memory_lost:
            engine.forget()
        if number in treatment.task_failed:
            engine.fail(batch)
        engine.take(batch)
        engine.change_worker()
    return engine


def assert_equal(engine: Engine, expected: Outcome) -> None:
    """Engine and oracle have said the same."""
    assert canonical(engine.alerts()) == canonical(expected.alerts)
    assert canonical(engine.alerts("shadow-alerts.v1")) == canonical(expected.shadow_alerts)
    assert sorted(engine.rejects()) == sorted((r.partition, r.offset, r.reason) for r in expected.rejects)
    assert engine.counters["duplicates"] == expected.duplicates
    assert engine.counters["backfilled"] == expected.backfilled
    assert engine.statuses() == expected.statuses
    assert engine.exports() == expected.exports
    assert canonical(_bare(engine.traces())) == canonical(expected.traces)
    assert engine.counters["trace_records_omitted"] == 0
    assert engine.counts() == {rule: asdict(counts) for rule, counts in expected.counts.items()}


def canonical(alerts: list[dict[str, Any]]) -> list[str]:
    return sorted(json.dumps(alert, sort_keys=True) for alert in alerts)


@pytest.fixture(autouse=True, scope="module")
def _limits_are_shared_however_often_they_hold() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_limits, "_RARE", 1)
        yield


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
@pytest.mark.timeout(900)
def test_random_histories(chunk: int, record_property: Callable[[str, object], None]) -> None:
    judge_both(chunk, record_property, PROFILE)


@pytest.mark.soak
@pytest.mark.parametrize("chunk", range(CHUNKS, CHUNKS + CHUNKS_OF_SOAK))
@pytest.mark.timeout(3600)
def test_more_random_histories(chunk: int, record_property: Callable[[str, object], None]) -> None:
    judge_both(chunk, record_property, SOAK_PROFILE)


def judge_both(
    chunk: int, record_property: Callable[[str, object], None], drawn: st.SearchStrategy[Profile]
) -> None:
    """Engine and oracle say the same of a chunk of histories."""
    seen: Counter[str] = Counter()
    # Thousands of warnings of garbage events, sent on purpose.
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)

    @hypothesis.seed(chunk)
    @settings(
        max_examples=HISTORIES_PER_CHUNK,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        seed=st.integers(0, 2**62),
        profile=drawn,
        treatment=TREATMENTS,
        share=SHARES_JOINED,
        shards=OTHER_SHARDS,
    )
    def equal(seed: int, profile: Profile, treatment: Treatment, share: float, shards: int) -> None:
        batches = joined(seed, share, random_history(seed, profile))
        expected = judge(batches)
        with tempfile.TemporaryDirectory() as directory:
            engine = ill_treated(batches, treatment, Path(directory) if treatment.mapped else None)
        assert_equal(engine, expected)
        made = Judged.of(batches, engine.out).prove(shards=shards)
        assert made.matches, made.document["differences"]
        assert made.document["alerts"]["count"] == len({alert["alertId"] for alert in expected.alerts})
        seen["proven in other shards"] += shards != treatment.shards
        seen.update(_shares(expected.alerts))
        seen["with traces"] += bool(expected.traces)
        seen["with backfilled ones"] += expected.backfilled > 0
        seen["rebuilt"] += engine.counters["rebuilds"] > 0

    equal()
    histories = seen["histories"]
    shares = {
        name: f"{count / histories:.0%}"
        for name, count in seen.items()
        if name not in ("histories", "alerts")
    }
    record_property(
        "told",
        f"{histories} histories equal and proven, {seen['alerts']} alerts; shares of histories: {shares}",
    )
    assert histories >= 200
    assert seen["with alerts"] >= 0.8 * histories
    # Hypothesis draws near what it drew before, and now and then a number from whatever modules are loaded: shares of
    # single features wander from chunk to chunk, 23% to 59% have been seen
    assert seen["with traces"] >= 0.05 * histories
    assert seen["with backfilled ones"] >= 0.05 * histories


def _bare(traces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in trace.items() if name != "judgedAt"} for trace in traces]


def _shares(alerts: list[dict[str, Any]]) -> Counter[str]:
    return Counter(
        {
            "histories": 1,
            "alerts": len(alerts),
            "with alerts": bool(alerts),
            "with late alerts": any(alert["late"] for alert in alerts),
            "with cold alerts": any(not alert["warm"] for alert in alerts),
            "with warm alerts": any(alert["warm"] for alert in alerts),
            "with caught-up alerts": any(alert["partial"] for alert in alerts),
            "with bucketed alerts": any("precision" in json.dumps(alert) for alert in alerts),
            "with parties' alerts": any("side" in alert for alert in alerts),
            "with weighted alerts": any("weighted" in alert for alert in alerts),
        }
    )
