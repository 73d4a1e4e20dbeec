"""What a backtest on Spark is made of, by what it is tried on: units to read, and how a shard judges them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tripline_engine.backtest.backtest import recorded_batches
from tripline_engine.backtest.on_spark.course import PLANNED, judged_work, planning
from tripline_engine.backtest.on_spark.file_units import FileUnits, units_of
from tripline_engine.backtest.on_spark.grid_tasks import judging
from tripline_engine.backtest.on_spark.log_units import Logs, LogUnits, log_units
from tripline_engine.backtest.on_spark.recorded_units import RecordedUnits, judging_recorded
from tripline_engine.backtest.on_spark.work import Source, Task, Work
from tripline_engine.backtest.ordered.file_history import Files
from tripline_engine.backtest.ordered.known_today import BY_ARRIVAL, Known
from tripline_engine.backtest.ordered.ordered_payloads import wanted_anchors
from tripline_engine.backtest.ordered.recorded_file import RecordedFile
from tripline_engine.backtest.tried import Progressed, not_told
from tripline_engine.backtest.tried_log import TriedLog, is_named_value
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.prover.settings import Judged
from tripline_engine.topic_names import TRANSACTIONS


@dataclass(frozen=True, slots=True)
class Plan:
    """A job before it is begun.

    :ivar judging: makes the task of a shard
    :ivar files: names of the files that are reported on
    :ivar batches: micro-batches that are judged, as far as that is known before
    :ivar work_done: to make it
    """

    work: Work
    source: Source
    judging: Callable[[Work], Task]
    files: Sequence[str] = ()
    batches: int = 0
    work_done: int = 0


def plan_of(
    shards: int,
    rules: Sequence[TriedRule],
    span: Span,
    tried_on: Files | Logs,
    judged: Judged,
    progressed: Progressed = not_told,
) -> Plan:
    """The job over this history. Raises UnreadableRecording, RecordsMissing, OrderBroken."""
    event_type = judged.event_type
    engine = "files" if isinstance(tried_on, Files) else tried_on.history.engine
    key = (secrets.randbits(64), secrets.randbits(64))
    config = EngineConfig(engine, event_type, event_type.anchors, shards, key, judged.clock)
    anchors = wanted_anchors(config, rules)
    if isinstance(tried_on, Files):
        paths = tuple(path.absolute() for path in tried_on.paths)
        opened = [
            RecordedFile(number, path, event_type, tried_on.mapping) for number, path in enumerate(paths)
        ]
        events = TriedLog(rules, span, event_type, is_named_value).of(tried_on.named)
        units = FileUnits(paths, tried_on.mapping, tuple(units_of(opened)))
        return Plan(Work(config, span, anchors, tuple(events)), units, judging, [path.name for path in paths])
    history, journals, reopen = tried_on.history, tried_on.journals, tried_on.reopen
    if tried_on.knowledge == "today":
        known = Known.of(rules, span, history, journals, event_type)
        offsets = tuple(log_units(journals[TRANSACTIONS], history.available))
        work = Work(
            config, span, anchors, known.events, BY_ARRIVAL,
            whole_from=known.whole_from if history.available else None, earlier_from=known.whole_from,
        )  # fmt: skip
        return Plan(work, LogUnits(reopen, known, offsets), judging)
    heads = recorded_batches(rules, span, history, journals, judged, heads=True)
    recorded = RecordedUnits.of(planning(heads, history.batches, judged_work(rules), progressed), reopen)
    work = Work(config, span, anchors)
    return Plan(work, recorded, judging_recorded, batches=recorded.batches, work_done=PLANNED)
