"""The refusal of a cold start with empty windows where the topic has lost history.

A new engine judges the records that the topic still has. That is fine if none were deleted, or if they reach back as
far as the widest window. Otherwise a checkpoint has been lost, or this is the first engine on an older topic.
"""

from __future__ import annotations

from tripline_contracts.cloudevents import rfc3339
from tripline_contracts.event_type import MAX_TIMESTAMP, EventType
from tripline_engine.archive.journal import Journal
from tripline_engine.domain.transactions.columns import BACKFILL
from tripline_engine.errors import NoHistory
from tripline_engine.kafka_log.record import Record
from tripline_engine.rebuild.history_need import HistoryNeed, history_need
from tripline_engine.rebuild.journals import Journals, journals
from tripline_engine.rebuild.survey import all_records
from tripline_engine.spark.settings import EngineSettings
from tripline_engine.topic_names import RULES, TRANSACTIONS


def refuse_without_history(settings: EngineSettings, event_type: EventType, now_ms: int) -> None:
    """For an engine that has no checkpoint yet. Raises NoHistory."""
    with journals(settings, event_type) as by_topic:
        reason = lacking(by_topic, now_ms if settings.clock == "wall" else None)
    if reason:
        raise NoHistory(
            f"{reason}. `tripline-engine rebuild` makes a checkpoint of the recorded order, the topics and the archive"
            " (TRIPLINE_ARCHIVE). TRIPLINE_COLD_START=1 starts all the same: windows fill again, and until then alerts"
            " say `warm: false`"
        )


def lacking(by_topic: Journals, wall_ms: int | None) -> str | None:
    """A sentence about missing history; None if none is. `wall_ms` is None for old data: the newest record's time."""
    transactions = by_topic[TRANSACTIONS]
    shortened = [p for p in transactions.topic.partitions() if transactions.topic.span(p).first > 0]
    if not shortened:
        return None
    clock = _newest(transactions, shortened) if wall_ms is None else wall_ms
    need = history_need((record.value for record in all_records(by_topic[RULES])), clock)
    for partition in shortened if need.window_seconds else ():
        if not _reaches(transactions, partition, need.oldest(clock)):
            return _sentence(transactions, partition, need, clock)
    return None


def _newest(journal: Journal, partitions: list[int]) -> int:
    """For old data there is no other clock than the data's."""
    last = (journal.last(partition) for partition in partitions)
    return max((record.timestamp for record in last if record), default=0)


def _reaches(journal: Journal, partition: int, oldest: int) -> bool:
    """Whether the topic reaches back to that time (ms): by its oldest record, or the newest archived one before it."""
    first = journal.topic.span(partition).first
    oldest_record = _first_of(journal, partition, first)
    if oldest_record is not None and oldest_record.timestamp < oldest:
        return True
    deleted = journal.archived_before(partition, first)
    return deleted is not None and deleted.timestamp < oldest


def _first_of(journal: Journal, partition: int, first: int) -> Record | None:
    """The first record that is not backfilled: backfilled ones are older than their predecessors."""
    for run in journal.runs(partition, first):
        for record in run:
            if all(name != BACKFILL for name, _ in record.headers):
                return record
    return None


def _sentence(journal: Journal, partition: int, need: HistoryNeed, clock: int) -> str:
    first = journal.topic.span(partition).first
    since = rfc3339(min(max(0, need.oldest(clock)), MAX_TIMESTAMP))
    kept = [span for span in journal.archived_ranges(partition) if span.first < first <= span.until]
    archive = f"the archive has it from offset {kept[0].first} on" if kept else "no archive has it"
    return (
        f"{journal.topic.name} partition {partition} begins at offset {first}, and windows of up to"
        f" {need.window_seconds} s (rule {need.rule_id}) need what was there since {since}; {archive}"
    )
