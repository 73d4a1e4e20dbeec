"""What late transactions make of what a version has judged before them (`lateEvents: reevaluate`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.firing.alerted_rows import alerted_records
from tripline_engine.domain.firing.firing_states import FiringRecords
from tripline_engine.domain.history.history_columns import BACKFILLED
from tripline_engine.domain.history.threshold_runs import ThresholdRun, threshold_runs
from tripline_engine.domain.judging.evaluation import BatchEvaluation
from tripline_engine.domain.judging.verdict import LateOne, Measured, Verdict
from tripline_engine.domain.memory.int128 import join
from tripline_engine.domain.rules.rule_version import RuleVersion
from tripline_engine.domain.rules.threshold import FUNCTIONS, shown
from tripline_engine.domain.windows.reevaluation_kernels import Judge, JudgedAgain, Source, judge_again


@dataclass(frozen=True, slots=True)
class Again:
    """What was judged again.

    :ivar judged: how often a transaction was
    :ivar states: all alerts of the version among the rows at hand, these and the others, as firing state
    """

    verdicts: list[Verdict]
    judged: int
    states: FiringRecords | None


def judge_late_ones(
    aggregates: BatchEvaluation,
    version: RuleVersion,
    fired: npt.NDArray[np.bool_],
    spans: npt.NDArray[np.int64],
) -> Again:
    """Judge again, for each late one among the rows and in their order.

    :param fired: bool, n: where an alert is due anyhow
    :param spans: what the version has judged, as `judged.JudgedSpans` has it
    """
    start, windows = aggregates.start, aggregates.windows
    alerted = windows.alerted[version.key]
    alerted.reserve(aggregates.end)
    alerted.rows[start : aggregates.end] = fired
    came_late = aggregates.late(version)
    backfilled = windows.history.marked(BACKFILLED, start, aggregates.end)
    if backfilled is not None:
        alerted.rows[start : aggregates.end] |= backfilled
        came_late &= ~backfilled
    late = np.flatnonzero(came_late).tolist()
    if not late:
        own = np.flatnonzero(fired) + start + windows.history.offset
        return Again([], 0, alerted_records(own) if len(own) else None)
    judge, source = _judge(aggregates, version, spans), _source(aggregates, version)
    history, (part,) = windows.history, version.measures
    limits = threshold_runs(part, version.anchor, windows.named, history, history.base, history.end)
    verdicts: list[Verdict] = []
    judged, rows = 0, [np.flatnonzero(fired) + start]
    for place in late:
        found = judge_again(start + place, judge, source)
        held = _held(version, found, limits)
        alerted.rows[found.rows[held]] = 1
        judged += len(held)
        verdicts += _verdicts(aggregates, version, place, found, held, limits)
        rows.append(found.rows[held])
    sequences = np.concatenate(rows) + history.offset
    return Again(verdicts, judged, alerted_records(sequences) if len(sequences) else None)


def _judge(aggregates: BatchEvaluation, version: RuleVersion, spans: npt.NDArray[np.int64]) -> Judge:
    history, (part,) = aggregates.windows.history, version.measures
    return Judge(
        window=part.window_ms,
        floor=aggregates.visibility.floor(version.anchor, version.fields),
        base=history.base,
        offset=history.offset,
        function=FUNCTIONS[part.function],
        sign=part.sign,
        spans=spans,
    )


def _source(aggregates: BatchEvaluation, version: RuleVersion) -> Source:
    windows, (part,) = aggregates.windows, version.measures
    links, members = windows.links[part.population], windows.links[part.members]
    amounts = windows.amounts(part.condition.aggregate_field)
    return Source(links.order, members.slots, members.order, amounts, windows.alerted[version.key].rows)


def _held(version: RuleVersion, found: JudgedAgain, limits: list[ThresholdRun]) -> npt.NDArray[np.bool_]:
    """Which of n hold (bool, n)."""
    held = np.zeros(len(found.rows), np.bool_)
    starts = [first for first, _, _ in limits]
    runs = np.searchsorted(starts, found.rows, "right") - 1
    for run in np.unique(runs).tolist():
        own, limit = runs == run, limits[run][2]
        totals = found.counts[own], found.low[own], found.high[own]
        held[own] = limit.matches(version.measures[0].function, *totals)
    return held


def _verdicts(
    aggregates: BatchEvaluation,
    version: RuleVersion,
    place: int,
    found: JudgedAgain,
    held: npt.NDArray[np.bool_],
    limits: list[ThresholdRun],
) -> Iterator[Verdict]:
    if not held.any():
        return
    history, late = aggregates.windows.history, aggregates.start + place
    warm_from = aggregates.visibility.warm_from(version)
    late_one = LateOne(history.ids(np.array([late]))[0], int(history.time[late]))
    (part,) = version.measures
    window = aggregates.window(version, part, aggregates.windows.links[part.population])
    for i in np.flatnonzero(held).tolist():
        row, count = int(found.rows[i]), int(found.counts[i])
        limit = next(limit for first, until, limit in limits if first <= row < until)
        measured = Measured(
            condition=part.condition,
            value=shown(part.function, count, join(found.low[i], found.high[i])),
            limit=limit.text,
            holds=True,
            count=count,
            contributors=window.contributors(row, late),
        )
        yield Verdict(
            version=version,
            row=place,
            measured=(measured,),
            newest=None,
            warm=warm_from is not None and int(history.time[row]) >= warm_from,
            late_one=late_one,
            again=int(history.time[row]),
            partial=history.partial(row, version.fields),
        )
