"""Random histories of the whole language, and SIGKILL of the engine's process in mid-stream: the oracle's alerts.

Ten at once, half with one shard and half with two, through one process that is killed twice (crowd.py), until a
hundred are through; or four, for a quick look. Both are in `make soak`: ten engines at once want more of a machine than
other tests leave.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.e2e.support.engine_process import Workplace
from tests.e2e.support.verdict import read_verdict
from tests.faults.support.history_feed import Feed
from tests.faults.support.neighbours import KillOfMany, play
from tests.oracle.values.event_types import judge_by
from tests.unit.engine.support.positioned import AS_THE_ORACLE_KNOWS, declaration
from tripline_demo.embedded.jars import Jars
from tripline_demo.embedded.java import Java

pytestmark = [pytest.mark.faults, pytest.mark.slow]

GROUPS, AT_ONCE, KILLS = 10, 10, 2
FEW, KILLS_OF_FEW = 4, 2

Tell = Callable[[str, object], None]


@pytest.fixture
def workplace(java: Java, jars: Jars, kafka: str, tmp_path: Path) -> Workplace:
    declared = tmp_path / "payments-from-somewhere.yaml"
    declared.write_text(declaration())
    return Workplace(java, jars, kafka, tmp_path, more={"TRIPLINE_EVENT_TYPE": str(declared)})


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("group", range(GROUPS))
def test_a_hundred_histories_with_kills(workplace: Workplace, record_property: Tell, group: int) -> None:
    equal_after_kills(workplace, range(group * AT_ONCE, (group + 1) * AT_ONCE), KILLS, record_property)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_few_histories_with_kills(workplace: Workplace, record_property: Tell) -> None:
    first = GROUPS * AT_ONCE
    equal_after_kills(workplace, range(first, first + FEW), KILLS_OF_FEW, record_property)


def equal_after_kills(workplace: Workplace, seeds: range, kills: int, tell: Tell) -> None:
    """Engine and oracle say the same of each history, and each kill struck some of them in mid-stream."""
    feeds = [Feed(workplace, seed, kills) for seed in seeds]
    for feed in feeds:
        feed.log.create()
    struck = play(workplace, feeds, kills, Random(f"kills {seeds}"))
    shares: Counter[str] = Counter()
    different: dict[str, str] = {}
    for feed in feeds:
        try:
            with judge_by(AS_THE_ORACLE_KNOWS):
                verdict = read_verdict(feed.log)
            verdict.assert_equal()
        except AssertionError as error:
            different[feed.log.prefix] = str(error)
        else:
            shares += verdict.shares() + Counter({"alerts written again": verdict.repeated_alerts})
    tell("told", f"{kills} kills; {told(struck)}; equal: {dict(shares)}")
    assert not different, different
    assert len(struck) == kills
    assert all(kill.midstream for kill in struck)
    assert shares["histories"] == len(seeds)
    assert shares["with alerts"] >= 0.5 * len(seeds)


def told(struck: list[KillOfMany]) -> str:
    """Of how many histories which part was under way at the kills."""
    midstream = set[str]().union(*(kill.midstream for kill in struck))
    by_kill = ", ".join(f"{len(kill.midstream)} ({len(kill.in_flight)})" for kill in struck)
    return (
        f"{len(midstream)} histories in mid-stream at one, by kill (with a micro-batch in flight): {by_kill}"
    )
