"""Checks before a rebuild: every refusal comes before hours of replay, not after them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
import structlog

from tripline_contracts.cloudevents import rfc3339
from tripline_contracts.event_type import MAX_TIMESTAMP, EventType
from tripline_engine.archive.journal import Journal
from tripline_engine.errors import CheckpointMismatch, RecordsMissing
from tripline_engine.kafka_log.offset_range import OffsetRange
from tripline_engine.rebuild.history_need import history_need
from tripline_engine.rebuild.journals import Journals
from tripline_engine.rebuild.survey import PartitionKey, Survey, survey
from tripline_engine.topic_names import ORDER, RULES, TICKS, TRANSACTIONS

_log = structlog.get_logger(__name__)
WINDOWS: Final = 2
"""Window lengths that have to be replayed: older transactions shared no window with one that still counts."""


def plan(journals: Journals, event_type: EventType, engine: str | None) -> tuple[Survey, dict[int, int]]:
    """The survey of the order to replay, and by partition the first available offset. Raises EngineError."""
    journal = journals[TRANSACTIONS]
    available = {partition: first_available(journal, partition) for partition in journal.topic.partitions()}
    recorded = survey(journals[ORDER], engine, available)
    _refuse_other_type(recorded, event_type)
    for key, judged in recorded.judged.items():
        _refuse_gap(journals[key[0]], key, judged, recorded)
    _refuse_what_is_needed(journals, recorded)
    return recorded, available


def first_available(journal: Journal, partition: int) -> int:
    """The first offset of the gapless range that reaches the topic's end."""
    # in this order: the topic may grow in between
    end = journal.end(partition)
    span = journal.available_ranges(partition)
    return span[-1].first if span and span[-1].until >= end else end


def _refuse_other_type(recorded: Survey, event_type: EventType) -> None:
    name, anchors = recorded.last.event_type, recorded.last.anchors
    if (name, anchors) != (event_type.name, event_type.anchors):
        raise CheckpointMismatch(
            f"engine {recorded.last.engine} judged event type {name} with anchors {', '.join(anchors)}; this is"
            f" {event_type.name} with anchors {', '.join(event_type.anchors)}"
        )


def _refuse_gap(journal: Journal, key: PartitionKey, judged: OffsetRange, recorded: Survey) -> None:
    topic, partition = key
    name, there = journal.topic.name, journal.topic.span(partition)
    if there.until < judged.until:
        raise RecordsMissing(
            f"{name} partition {partition} ends at {there.until}, and it was judged up to {judged.until}: it was made"
            " anew"
        )
    if there.first > judged.until:
        raise RecordsMissing(
            f"{name} partition {partition} begins at {there.first}, and it was judged up to {judged.until}: what is"
            " between was judged by nobody, and a stream reads topics only"
        )
    if topic == TRANSACTIONS and partition in recorded.left_out:
        return  # checked by _refuse_what_is_needed
    ranges = [span for span in journal.available_ranges(partition) if span.first <= judged.first < span.until]
    if not ranges or ranges[0].until < judged.until:
        raise RecordsMissing(journal.gap(partition, ranges[0].until if ranges else judged.first))


def _refuse_what_is_needed(journals: Journals, recorded: Survey) -> None:
    if not recorded.left_out:
        return
    clock = last_tick(journals[TICKS], recorded)
    rules = _values(journals[RULES], recorded.judged.get((RULES, 0)))
    need = history_need(rules, clock)
    oldest = need.oldest(clock, WINDOWS)
    for partition, newest in sorted(recorded.left_out.items()):
        judged = recorded.judged[TRANSACTIONS, partition]
        missing = f"transactions up to {_moment(newest)}"
        if newest >= oldest:
            raise RecordsMissing(
                f"{journals[TRANSACTIONS].gap(partition, judged.first)}; among them are {missing}, and all since"
                f" {_moment(oldest)} are needed: twice the widest window, {need.window_seconds} s of rule"
                f" {need.rule_id}"
            )
        _log.warning(
            "left_out", partition=partition, first=judged.first, reason=f"{missing} are not there any more"
        )


def last_tick(journal: Journal, recorded: Survey) -> int:
    """The record clock of the last judged tick, ms; 0 before the first tick: then no transaction is old."""
    judged = recorded.judged.get((TICKS, 0))
    clock = 0
    for value in _values(journal, judged and OffsetRange(judged.until - 1, judged.until)):
        try:
            clock = int(msgspec.json.decode(value or b"")["clock"])
        except (msgspec.MsgspecError, UnicodeDecodeError, LookupError, TypeError, ValueError):
            clock = 0
    return clock


def _values(journal: Journal, span: OffsetRange | None) -> Iterator[bytes | None]:
    records = (record for run in journal.runs(0, span.first) for record in run) if span else iter(())
    for record in records:
        if span and record.offset >= span.until:
            return
        yield record.value


def _moment(milliseconds: int) -> str:
    """RFC 3339 text, clamped to the calendar's range."""
    return rfc3339(min(max(0, milliseconds), MAX_TIMESTAMP))
