"""Random histories at once through one process, which is killed in mid-stream and started again on what it left.

Each history has a query, topics, checkpoint and projection of its own. A kill strikes when the engines' records of the
order come to a number of transactions that was drawn before. The queries know nothing of each other: while one has just
written such a record, others plan a micro-batch, judge, flush or commit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from tests.e2e.support.engine_process import Workplace, queries_until_killed
from tests.e2e.support.waiting import eventually
from tests.faults.support.history_feed import Feed
from tests.faults.support.running_verdict import JudgedSoFar, judged_so_far
from tripline_engine.spark.checkpoint.spark_offsets import is_in_flight

SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class KillOfMany:
    """Prefixes of histories at a kill.

    :ivar midstream: of which some transactions were judged, and some steps had not been sent
    :ivar in_flight: with a micro-batch that was planned and not committed
    """

    midstream: set[str]
    in_flight: set[str]


def play(workplace: Workplace, feeds: Sequence[Feed], kills: int, rng: Random) -> list[KillOfMany]:
    """All histories to their ends, with so many kills. The topics are there."""
    with judged_so_far(workplace.kafka, [feed.log.prefix for feed in feeds]) as judged:
        struck = [_until_killed(workplace, feeds, stretch, judged, rng) for stretch in range(1, kills + 1)]
        _go_on(workplace, feeds, kills + 1, lambda: all(feed.is_over() for feed in feeds))
    return struck


def _until_killed(
    workplace: Workplace, feeds: Sequence[Feed], stretch: int, judged: JudgedSoFar, rng: Random
) -> KillOfMany:
    """Through this stretch; each kill finds the queries started in another order."""
    before, until = (sum(feed.transactions(n) for feed in feeds) for n in (stretch - 1, stretch))
    # never more than was sent, so it comes; far into the stretch, so that most have begun
    due = rng.randint((before + until) // 2 + 1, until)
    _go_on(workplace, rng.sample(feeds, len(feeds)), stretch, lambda: judged.by_prefix().total() >= due)
    begun = judged.by_prefix().keys()
    return KillOfMany(
        {feed.log.prefix for feed in feeds if feed.log.prefix in begun and not feed.is_over()},
        {feed.log.prefix for feed in feeds if is_in_flight(feed.spark)},
    )


def _go_on(workplace: Workplace, feeds: Sequence[Feed], stretch: int, holds: Callable[[], bool]) -> None:
    """Steps of this stretch come, and a process takes them, until `holds`: then it is killed."""
    for feed in feeds:
        feed.go_on(stretch)  # what comes while no engine runs
    started: list[Feed] = []
    with queries_until_killed(workplace) as process:

        def goes_on() -> bool:
            for feed in feeds:
                feed.go_on(stretch)
            if holds():
                return True
            # one after another: Spark gives up on a query whose own Python process isn't there within ten seconds
            if len(started) < len(feeds) and all(feed.is_under_way() for feed in started):
                feeds[len(started)].start(process)
                started.append(feeds[len(started)])
            return False

        eventually(
            lambda: goes_on() or not process.alive(), f"the engines are through stretch {stretch}", SECONDS
        )
        assert process.alive(), workplace.log.read_text(errors="replace")[-3000:]
