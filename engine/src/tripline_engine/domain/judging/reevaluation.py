"""Re-evaluation: late transactions have a version judge again what it judged before them (`lateEvents: reevaluate`)."""

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
from tripline_engine.domain.windows.reevaluation_kernels import (
    Reevaluations,
    ReevaluationSource,
    ReevaluationTask,
    reevaluate,
)


@dataclass(frozen=True, slots=True)
class Reevaluated:
    """The outcome of a re-evaluation.

    :ivar judged: the number of evaluations repeated
    :ivar states: all alerts of the version among the rows at hand, these and the others, as firing state
    """

    verdicts: list[Verdict]
    judged: int
    states: FiringRecords | None


def judge_late_ones(
    evaluation: BatchEvaluation,
    version: RuleVersion,
    fired: npt.NDArray[np.bool_],
    spans: npt.NDArray[np.int64],
) -> Reevaluated:
    """Judge again, for each late one among the rows and in their order.

    :param fired: bool, n: where an alert is due anyhow
    :param spans: what the version has judged, as `judged_spans.JudgedSpans` has it
    """
    start, windows = evaluation.start, evaluation.windows
    alerted = windows.alerted[version.key]
    alerted.reserve(evaluation.end)
    alerted.rows[start : evaluation.end] = fired
    came_late = evaluation.late(version)
    backfilled = windows.history.marked(BACKFILLED, start, evaluation.end)
    if backfilled is not None:
        alerted.rows[start : evaluation.end] |= backfilled
        came_late &= ~backfilled
    late = np.flatnonzero(came_late).tolist()
    if not late:
        fired_rows = np.flatnonzero(fired) + start + windows.history.offset
        return Reevaluated([], 0, alerted_records(fired_rows) if len(fired_rows) else None)
    task, source = _task(evaluation, version, spans), _source(evaluation, version)
    history, (measure,) = windows.history, version.measures
    limits = threshold_runs(measure, version.anchor, windows.named, history, history.base, history.end)
    verdicts: list[Verdict] = []
    judged, rows = 0, [np.flatnonzero(fired) + start]
    for index in late:
        again = reevaluate(start + index, task, source)
        satisfied = _satisfied(version, again, limits)
        alerted.rows[again.rows[satisfied]] = 1
        judged += len(satisfied)
        verdicts += _verdicts(evaluation, version, index, again, satisfied, limits)
        rows.append(again.rows[satisfied])
    sequences = np.concatenate(rows) + history.offset
    return Reevaluated(verdicts, judged, alerted_records(sequences) if len(sequences) else None)


def _task(
    evaluation: BatchEvaluation, version: RuleVersion, spans: npt.NDArray[np.int64]
) -> ReevaluationTask:
    history, (measure,) = evaluation.windows.history, version.measures
    return ReevaluationTask(
        window=measure.window_ms,
        floor=evaluation.watermarks.floor_of(version),
        base=history.base,
        offset=history.offset,
        function=FUNCTIONS[measure.function],
        sign=measure.sign,
        spans=spans,
    )


def _source(evaluation: BatchEvaluation, version: RuleVersion) -> ReevaluationSource:
    windows, (measure,) = evaluation.windows, version.measures
    groups, members = windows.lists[measure.population], windows.lists[measure.members]
    amounts = windows.amounts(measure.condition.aggregate_field)
    return ReevaluationSource(
        groups.order, members.slots, members.order, amounts, windows.alerted[version.key].rows
    )


def _satisfied(
    version: RuleVersion, again: Reevaluations, limits: list[ThresholdRun]
) -> npt.NDArray[np.bool_]:
    """Where the limit holds (bool, n)."""
    satisfied = np.zeros(len(again.rows), np.bool_)
    starts = [first for first, _, _ in limits]
    runs = np.searchsorted(starts, again.rows, "right") - 1
    for run in np.unique(runs).tolist():
        in_run, limit = runs == run, limits[run][2]
        totals = again.counts[in_run], again.low[in_run], again.high[in_run]
        satisfied[in_run] = limit.matches(version.measures[0].function, *totals)
    return satisfied


def _verdicts(
    evaluation: BatchEvaluation,
    version: RuleVersion,
    index: int,
    again: Reevaluations,
    satisfied: npt.NDArray[np.bool_],
    limits: list[ThresholdRun],
) -> Iterator[Verdict]:
    if not satisfied.any():
        return
    history, late = evaluation.windows.history, evaluation.start + index
    warm_from = evaluation.watermarks.warm_from(version)
    late_one = LateOne(history.ids(np.array([late]))[0], int(history.time[late]))
    (measure,) = version.measures
    window = evaluation.window(version, measure, evaluation.windows.lists[measure.population])
    for i in np.flatnonzero(satisfied).tolist():
        row, count = int(again.rows[i]), int(again.counts[i])
        limit = next(limit for first, until, limit in limits if first <= row < until)
        measured = Measured(
            condition=measure.condition,
            value=shown(measure.function, count, join(again.low[i], again.high[i])),
            limit=limit.text,
            holds=True,
            count=count,
            contributors=window.contributors(row, late),
        )
        yield Verdict(
            version=version,
            row=index,
            measured=(measured,),
            newest=None,
            warm=warm_from is not None and int(history.time[row]) >= warm_from,
            late_one=late_one,
            again=int(history.time[row]),
            partial=history.partial(row, version.fields),
        )
