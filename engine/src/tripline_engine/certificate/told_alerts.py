"""The alerts of a span as alerts.v1 has them: an index of their digests, some 250 bytes an alert."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tripline_engine.archive.journal import ReadableTopic
from tripline_engine.certificate.span_alert import AlertReader, SpanAlert
from tripline_engine.errors import RecordsMissing

Offset = tuple[int, int]
"""Partition and offset."""


@dataclass(slots=True)
class ToldAlerts:
    """What the topic tells.

    :ivar places: the first record of each alert, by id and digest: one that came again says the same
    :ivar ends: up to which offset it was read, by partition
    """

    topic: ReadableTopic
    places: dict[bytes, Offset] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)

    @staticmethod
    def read(topic: ReadableTopic, reader: AlertReader, ends: Mapping[int, int] | None = None) -> ToldAlerts:
        """All alerts of the span, up to the topic's ends or to those given.

        Raises RecordsMissing where records have been deleted, or where there are fewer than were read once.
        """
        told = ToldAlerts(topic)
        for partition in topic.partitions():
            there = topic.span(partition)
            until = there.until if ends is None else ends.get(partition, 0)
            if there.first > 0 or there.until < until:
                raise RecordsMissing(
                    f"{topic.name} partition {partition} has offsets {there.first} to {there.until - 1}, and those from"
                    f" 0 to {max(until, there.first) - 1} are needed: all of its alerts have to be there"
                )
            told.ends[partition] = until
            for run in topic.records(partition, 0, until) if until else ():
                for record in run:
                    alert = reader.read(record.value)
                    if alert is not None:
                        told.places.setdefault(alert.identity, (partition, record.offset))
        return told

    def alert_at(self, told_at: Offset, reader: AlertReader) -> SpanAlert:
        """Reads one alert again. Raises RecordsMissing."""
        partition, offset = told_at
        for run in self.topic.records(partition, offset, offset + 1):
            for record in run:
                alert = reader.read(record.value)
                if alert is not None:
                    return alert
        raise RecordsMissing(
            f"{self.topic.name} partition {partition}: offset {offset} is not there any more"
        )
