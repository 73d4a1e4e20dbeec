"""What is refused before anything is judged: hours of work should not end in a refusal."""

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
_WINDOWS: Final = 2
"""A transaction that may be left out has not been in a window together with one that still counts."""


def plan(journals: Journals, event_type: EventType, engine: str | None) -> tuple[Survey, dict[int, int]]:
    """What is to be judged, and by partition from where on transactions are there. Raises EngineError."""
    journal = journals[TRANSACTIONS]
    available = {partition: _available(journal, partition) for partition in journal.topic.partitions()}
    found = survey(journals[ORDER], engine, available)
    _refuse_other_type(found, event_type)
    for place, judged in found.judged.items():
        _refuse_gap(journals[place[0]], place, judged, found)
    _refuse_what_is_needed(journals, found)
    return found, available


def _available(journal: Journal, partition: int) -> int:
    """Where begins what reaches the topic's end without a gap."""
    span = journal.available_ranges(partition)
    end = journal.end(partition)
    return span[-1].first if span and span[-1].until >= end else end


def _refuse_other_type(found: Survey, event_type: EventType) -> None:
    recorded = (found.last.event_type, found.last.anchors)
    if recorded != (event_type.name, event_type.anchors):
        raise CheckpointMismatch(
            f"engine {found.last.engine} judged event type {recorded[0]} with anchors {', '.join(recorded[1])}; this is"
            f" {event_type.name} with anchors {', '.join(event_type.anchors)}"
        )


def _refuse_gap(journal: Journal, place: PartitionKey, judged: OffsetRange, found: Survey) -> None:
    topic, partition = place
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
    if topic == TRANSACTIONS and partition in found.left_out:
        return  # whether that may be is another question
    whole = [span for span in journal.available_ranges(partition) if span.first <= judged.first < span.until]
    if not whole or whole[0].until < judged.until:
        raise RecordsMissing(journal.gap(partition, whole[0].until if whole else judged.first))


def _refuse_what_is_needed(journals: Journals, found: Survey) -> None:
    if not found.left_out:
        return
    clock = _last_tick(journals[TICKS], found)
    rules = _values(journals[RULES], found.judged.get((RULES, 0)))
    need = history_need(rules, clock)
    oldest = need.oldest(clock, _WINDOWS)
    for partition, newest in sorted(found.left_out.items()):
        judged = found.judged[TRANSACTIONS, partition]
        what = f"transactions up to {_moment(newest)}"
        if newest >= oldest:
            raise RecordsMissing(
                f"{journals[TRANSACTIONS].gap(partition, judged.first)}; among them are {what}, and all since"
                f" {_moment(oldest)} are needed: twice the widest window, {need.window_seconds} s of rule"
                f" {need.rule_id}"
            )
        _log.warning(
            "left_out", partition=partition, first=judged.first, reason=f"{what} are not there any more"
        )


def _last_tick(journal: Journal, found: Survey) -> int:
    """The record clock in the end, ms; 0 before the first tick: then nothing is old."""
    judged = found.judged.get((TICKS, 0))
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
    """As far as a calendar goes."""
    return rfc3339(min(max(0, milliseconds), MAX_TIMESTAMP))
