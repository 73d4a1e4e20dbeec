"""The newest part of an engine's recorded history: the span that an estimate is made from."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tripline_contracts.event_type import EventType
from tripline_engine.backtest.history import History, history_of, reach_of
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.errors import OrderBroken, RecordsMissing
from tripline_engine.rebuild.journals import Journals
from tripline_engine.rebuild.recorded_order import order_of
from tripline_engine.rebuild.survey import all_records, newest_engine
from tripline_engine.topic_names import ORDER, TRANSACTIONS

DAY_MS: Final = 86_400_000


def recent_history(
    rule: TriedRule, days: int, journals: Journals, event_type: EventType
) -> tuple[Span, History]:
    """The last days of the newest engine's history, as far as it goes back, and what is read for them.

    Where the windows before that are in neither topic nor archive any more the span begins later. Raises OrderBroken
    where nothing was judged yet, RecordsMissing where not even one window is there.
    """
    engine = newest_engine(journals[ORDER])
    newest = _newest(journals, engine)
    oldest = _oldest(journals, newest)
    span = Span(max(newest + 1 - days * DAY_MS, oldest), newest + 1)
    try:
        return span, _beginning(history_of([rule], span, engine, journals, event_type), oldest)
    except RecordsMissing:
        later = Span(oldest + reach_of(rule, span, journals, event_type), newest + 1)
        if not span.first < later.first < later.until:
            raise
        return later, _beginning(history_of([rule], later, engine, journals, event_type), oldest)


def _beginning(history: History, oldest: int) -> History:
    """The same, from when there is any of it."""
    return replace(history, since=max(history.since, oldest))


def _newest(journals: Journals, engine: str) -> int:
    """The highest record time (ms) that the engine has judged."""
    newest: int | None = None
    for recorded in order_of(engine, all_records(journals[ORDER])):
        for part in recorded.transactions:
            newest = part.max_record_time if newest is None else max(newest, part.max_record_time)
    if newest is None:
        raise OrderBroken(f"{journals[ORDER].topic.name}: engine {engine} has judged no transaction yet")
    return newest


def _oldest(journals: Journals, newest: int) -> int:
    """The record time (ms) of the first transaction that is still there, of whatever partition."""
    journal = journals[TRANSACTIONS]
    times = [newest]
    for partition in journal.topic.partitions():
        ranges = journal.available_ranges(partition)
        for run in journal.runs(partition, ranges[0].first) if ranges else ():
            times.append(run[0].timestamp)
            break
    return min(times)
