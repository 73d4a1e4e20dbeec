"""The judgement over a run of transactions: verdicts, changed firing states, counts and traces, version by version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tripline_engine.domain.firing.firing_states import FiringRecords
from tripline_engine.domain.firing.occasion import Fired
from tripline_engine.domain.firing.shared_limits import SharedLimits
from tripline_engine.domain.judging.evaluation import BatchEvaluation
from tripline_engine.domain.judging.readings import RuleReading
from tripline_engine.domain.judging.reevaluation import judge_late_ones
from tripline_engine.domain.judging.rule_counters import rule_counter
from tripline_engine.domain.judging.trace_sample import TraceSample
from tripline_engine.domain.judging.verdict import Verdict
from tripline_engine.domain.judging.window_results import EnteredRows, WindowResults, read_by
from tripline_engine.domain.judging.window_set import WindowSet
from tripline_engine.domain.rules.judged_spans import JudgedSpans
from tripline_engine.domain.rules.measures import Population
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_version import JudgingVersion, RuleVersion, RuleVersionKey
from tripline_engine.domain.rules.watermarks import Watermarks

FiringByVersion = dict[RuleVersionKey, FiringRecords]


@dataclass(slots=True)
class Judgement:
    """The outcome of a run of transactions under all rules.

    :ivar alone: ids of rules whose alerts are counted alone
    :ivar counted: where those fired: of these there are no verdicts, but of what came late and is judged again
    :ivar firing: the firing states that they changed
    :ivar counts: by name, see `rule_counters`
    :ivar traces: the evaluations of each version that is traced
    """

    alone: frozenset[int] = frozenset()
    verdicts: list[Verdict] = field(default_factory=list)
    counted: list[Fired] = field(default_factory=list)
    firing: FiringByVersion = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    traces: list[TraceSample] = field(default_factory=list)


def versions_to_evaluate(book: RuleBook, anchor: str, oldest: int) -> list[JudgingVersion]:
    """The versions in force on the anchor, and those whose state must follow all the same (they judge nothing new).

    Versions that read the same windows are adjacent, and so are those of the same groups: the processor's cache still
    has what they read.

    :param oldest: the oldest event time (ms) that there is to judge
    """
    by_windows: dict[Population, dict[object, list[JudgingVersion]]] = {}
    for judging in _following(book, anchor, oldest):
        version = judging[0]
        first_window = next(read_by(version), None)
        by_windows.setdefault(version.population, {}).setdefault(first_window, []).append(judging)
    return [judging for windows in by_windows.values() for alike in windows.values() for judging in alike]


def _following(book: RuleBook, anchor: str, oldest: int) -> Iterator[JudgingVersion]:
    judging = {item[0].key: item for item in book.judging(anchor, oldest)}
    yield from judging.values()
    for version in book.versions():
        definition = version.definition
        again = definition.late_events == "reevaluate" and not book.rules[version.rule_id].paused
        if (definition.reset_on_alert or again) and version.anchor == anchor and version.key not in judging:
            yield version, 0, 0


def ingest(
    windows: WindowSet, start: int, end: int, watermarks: Watermarks, readers: Iterable[RuleVersion]
) -> BatchEvaluation:
    """Enter the history's rows from ``start`` to ``end`` into all lists, and into windows when these are read.

    :param readers: the versions that are going to read; the caller releases each when it has, and finishes the results
    """
    if windows.tuning.in_order:
        time = windows.history.time[max(windows.history.base, start - 1) : end]
        assert (time[1:] >= time[:-1]).all()
    for groups in windows.groups.values():
        groups.enter(start, end)
    linked = {population: lists.link(start, end) for population, lists in windows.lists.items()}
    newest = {population: result.newest for population, result in linked.items()}
    readers = list(readers)
    results = WindowResults(windows, EnteredRows(start, linked), watermarks, readers)
    # of few rows it costs more to know the limits than to compare with all of them
    shared = SharedLimits(readers if end - start >= windows.tuning.shared_rows else ())
    return BatchEvaluation(windows, start, end, watermarks, newest, results, shared)


def evaluate_version(
    version: RuleVersion,
    eligible: npt.NDArray[np.bool_],
    evaluation: BatchEvaluation,
    judged: JudgedSpans,
    judgement: Judgement,
) -> tuple[npt.NDArray[np.bool_], RuleReading]:
    """Evaluate the version for the rows that it may judge (bool, n), and add the outcome to the judgement.

    :returns: where it fired (bool, n), and its reading
    """
    fired, reading = evaluation.fire(version, eligible)
    if version.rule_id in judgement.alone:
        judgement.counted.append(Fired(version, np.flatnonzero(fired)))
    elif fired.any():
        judgement.verdicts.extend(reading.verdicts(fired, evaluation.watermarks.warm_from(version)))
    states = evaluation.changed_states(version, eligible, fired)
    if not version.is_shadow:  # counters are of the rule
        for name, count in evaluation.counts(version, eligible).items():
            judgement.counts[rule_counter(version.rule_id, name)] += count
    if version.definition.late_events == "reevaluate":
        again = judge_late_ones(evaluation, version, fired, judged.of(version.key))
        judgement.verdicts.extend(again.verdicts)
        if not version.is_shadow:
            judgement.counts[rule_counter(version.rule_id, "reevaluated")] += again.judged
        states = again.states
    if states is not None:
        judgement.firing[version.key] = states
    return fired, reading
