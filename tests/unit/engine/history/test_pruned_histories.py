"""Random histories with eager pruning and compaction, against the oracle."""

from __future__ import annotations

import logging
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.oracle.generators.profile import (
    EVERYTHING,
    EVERYTHING_AND_ENTRIES,
    EVERYTHING_AND_MEASURES,
    EVERYTHING_AND_MORE,
    EVERYTHING_AND_ORDER,
    EVERYTHING_AND_SHADOWS,
    EVERYTHING_AND_STEPS,
    Profile,
)
from tests.oracle.histories.random_history import random_history
from tests.oracle.judgement.oracle import judge
from tests.unit.engine.shard.test_against_oracle import TREATMENTS, Treatment, assert_equal, ill_treated
from tests.unit.engine.support.eager_retention import compacting_from

# Few rules, so that fields are unused often; much movement of the clock, so that floors pass.
PROFILE = st.builds(
    replace,
    st.sampled_from(
        [
            Profile(),
            EVERYTHING,
            EVERYTHING_AND_MORE,
            EVERYTHING_AND_ENTRIES,
            EVERYTHING_AND_MEASURES,
            EVERYTHING_AND_ORDER,
            EVERYTHING_AND_SHADOWS,
            EVERYTHING_AND_STEPS,
            replace(EVERYTHING, bucketed=0.6),
        ]
    ),
    transactions=st.sampled_from([200, 230]),
    micro_batches=st.sampled_from([(8, 20), (14, 30)]),
    keys=st.sampled_from([(1, 1), (1, 4), (2, 6)]),
    rules=st.sampled_from([(1, 1), (1, 2), (1, 3), (2, 4)]),
    rule_changes=st.sampled_from([(0, 2), (2, 9)]),
    jump_per_batch=st.sampled_from([0.07, 0.3, 0.5]),
    no_ticks=st.just(0.0),
    commands=st.sampled_from([0.0, 0.4, 0.9]),
)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_random_histories(pruned: Counter[str], record_property: Callable[[str, object], None]) -> None:
    judge_both(0, pruned, record_property)


@pytest.mark.soak
@pytest.mark.parametrize("chunk", range(1, 4))
@pytest.mark.timeout(900)
def test_more_random_histories(
    chunk: int, pruned: Counter[str], record_property: Callable[[str, object], None]
) -> None:
    judge_both(chunk, pruned, record_property)


def judge_both(chunk: int, pruned: Counter[str], record_property: Callable[[str, object], None]) -> None:
    """Engine and oracle say the same of sixteen histories, in most of which something was pruned."""
    seen: Counter[str] = Counter()
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)

    @hypothesis.seed(1000 + chunk)
    @settings(max_examples=16, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(
        seed=st.integers(0, 2**62),
        profile=PROFILE,
        treatment=TREATMENTS,
        numbered_rows=st.sampled_from([20, 1 << 28]),
    )
    def equal(seed: int, profile: Profile, treatment: Treatment, numbered_rows: int) -> None:
        batches = random_history(seed, profile)
        expected = judge(batches)
        before = pruned.total()
        with tempfile.TemporaryDirectory() as directory:
            mapped = Path(directory) if treatment.mapped else None
            engine = ill_treated(batches, treatment, mapped, compacting_from(numbered_rows))
        assert_equal(engine, expected)
        seen["histories"] += 1
        seen["alerts"] += len(expected.alerts)
        seen["with alerts"] += bool(expected.alerts)
        seen["pruned in memory"] += pruned.total() > before
        seen["pruned in the log"] += engine.counters["pruned_columns"] > 0
        seen["pruned in the log and rebuilt"] += (
            engine.counters["pruned_columns"] > 0 and engine.counters["rebuilds"] > 0
        )

    equal()
    record_property("told", dict(seen))
    assert seen["histories"] >= 16
    # what is drawn depends on the modules that are loaded, so these shares wander
    assert seen["pruned in memory"] >= 0.4 * seen["histories"]
    assert seen["pruned in the log"] >= 0.4 * seen["histories"]
    assert seen["pruned in the log and rebuilt"] > 0
