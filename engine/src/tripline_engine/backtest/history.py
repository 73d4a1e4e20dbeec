"""The part of an engine's recorded order that a backtest reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tripline_contracts.cloudevents import rfc3339
from tripline_contracts.event_type import MAX_TIMESTAMP, EventType
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.domain.proof.reach import oldest_event_time
from tripline_engine.domain.rules.rule_version import version_of
from tripline_engine.errors import CheckpointMismatch, OrderBroken, RecordsMissing
from tripline_engine.prover.rules_log import RulesLog
from tripline_engine.rebuild.journals import Journals
from tripline_engine.rebuild.plan import first_available
from tripline_engine.rebuild.recorded_order import order_of
from tripline_engine.rebuild.survey import all_records, newest_engine
from tripline_engine.topic_names import ORDER, RULES, TRANSACTIONS

_BATCH_WORK: Final = 150


@dataclass(frozen=True, slots=True)
class History:
    """What is read.

    :ivar available: by partition of transactions.v1 the first offset that is read; what is before bears on nothing
    :ivar batches: micro-batches of the order
    :ivar transactions: that are read; where the clock ends is not known before, so about
    :ivar work: what is to be gone through, by `work_of`; about, likewise
    :ivar rules: rules.v1 as it stands, for its tolerances
    :ivar since: the record time (ms) from which on it bears on the rules' alerts
    """

    engine: str
    available: dict[int, int]
    batches: int
    transactions: int
    work: int
    rules: RulesLog
    since: int


def work_of(batches: int, transactions: int) -> int:
    """A measure of time: what a micro-batch takes, however small, is as much as so many transactions take."""
    return batches * _BATCH_WORK + transactions


def history_of(
    rules: Sequence[TriedRule], span: Span, engine: str | None, journals: Journals, event_type: EventType
) -> History:
    """The history that the rules need over the span, of that engine, or of the newest one.

    Raises OrderBroken, CheckpointMismatch for another event type, RecordsMissing where transactions are gone.
    """
    log = RulesLog.read(journals[RULES], event_type)
    since = min(_since(rule, span, log, event_type) for rule in rules)
    name = engine or newest_engine(journals[ORDER])
    first: dict[int, int] = {}
    reached: set[int] = set()
    batches = transactions = work = newest = 0
    for recorded in order_of(name, all_records(journals[ORDER])):
        batches += 1
        if (recorded.event_type, recorded.anchors) != (event_type.name, event_type.anchors):
            raise CheckpointMismatch(
                f"engine {name} judged event type {recorded.event_type}; this is {event_type.name}"
            )
        read = 0
        for part in recorded.transactions:
            if part.max_record_time >= since:
                reached.add(part.partition)
            if part.partition in reached:
                read += part.until - part.first
            else:
                first[part.partition] = part.until
        newest = max([newest, *(part.max_record_time for part in recorded.transactions)])
        if not log.tolerances.is_over(span.until, newest):
            transactions += read
            work += work_of(1, read)
    if not batches:
        raise OrderBroken(f"{journals[ORDER].topic.name}: no micro-batch of engine {name}")
    _refuse_gone(first, since, journals)
    return History(name, first, batches, transactions, work, log, since)


def reach_of(rule: TriedRule, span: Span, journals: Journals, event_type: EventType) -> int:
    """How far (ms) before the span lie the oldest record times that bear on the rule's alerts in it."""
    return span.first - _since(rule, span, RulesLog.read(journals[RULES], event_type), event_type)


def _since(rule: TriedRule, span: Span, log: RulesLog, event_type: EventType) -> int:
    """The oldest record time (ms) that bears on the rule's alerts in the span."""
    version = version_of(
        rule.rule_id, 1, rule.name, rule.definition, rule.definition.hash, span.first, span.until, event_type
    )
    return log.tolerances.record_time_from(oldest_event_time(version, span.first))


def _refuse_gone(first: dict[int, int], since: int, journals: Journals) -> None:
    journal = journals[TRANSACTIONS]
    for partition in journal.topic.partitions():
        needed = first.get(partition, 0)
        if first_available(journal, partition) > needed and needed < journal.end(partition):
            raise RecordsMissing(
                f"{journal.gap(partition, needed)}; a backtest of this span needs what came since"
                f" {rfc3339(min(max(0, since), MAX_TIMESTAMP))}"
            )
