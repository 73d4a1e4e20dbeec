"""The engine as its topics tell of it: what it judged, what it refused, what it does for duplicates."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from confluent_kafka import Message

from tripline_contracts.event_type import EventType
from tripline_contracts.kafka.cluster import KafkaCluster
from tripline_demo.generator.errors import Unheard
from tripline_demo.generator.output.kafka_outlet import TOPIC
from tripline_demo.generator.output.topic_reader import TopicReader
from tripline_demo.generator.recordings.order_progress import OrderProgress
from tripline_demo.generator.recordings.reception import DEFAULT_REACH_MS, Judged, Receptionist, Spot, Stored
from tripline_demo.generator.recordings.replay import Reception

ORDER: Final = "engine-order.v1"
REJECTED: Final = "rejected-transactions.v1"
RULES: Final = "rules.v1"
MAX_RECORDS: Final = 1_000_000
"""Records of transactions.v1 that are looked at, those of others and of before among them."""
WAIT_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 3.0
"""A micro-batch's rejects may be written after its order; the next one's order says that they are there."""
_PAUSE_SECONDS: Final = 0.3
_REJECTS_MS: Final = 3_600_000

Wait = Callable[[float], bool]


class KafkaEngine:
    """See Engine. `wait(seconds)` returns True when nobody waits for an answer any more."""

    def __init__(
        self, kafka: KafkaCluster, event_type: EventType, wait: Wait, seconds: float = WAIT_SECONDS
    ) -> None:
        self._kafka, self._event_type, self._wait, self._seconds = kafka, event_type, wait, seconds
        self._before: dict[int, int] = {}
        self._order: dict[int, int] = {}

    def begin(self) -> None:
        """See Engine."""
        with TopicReader(self._kafka) as reader:
            self._before, self._order = reader.ends(TOPIC), reader.ends(ORDER)

    def reception(self, source: str, since: int) -> Reception:
        """See Engine."""
        with TopicReader(self._kafka) as reader:
            ends = reader.ends(TOPIC)
            until = self._judged_until(reader, ends)
            reach = _reach(reader)
            judged = Judged(until, _refused(reader), reach)
            first = {
                number: min(offset, self._before.get(number, 0))
                for number, offset in reader.since(TOPIC, since - reach).items()
            }
            count = sum(max(0, ends[number] - first[number]) for number in ends)
            if count > MAX_RECORDS:
                raise Unheard(f"{count} records would have to be looked at; {MAX_RECORDS} are")
            receptionist = Receptionist(source, judged, self._event_type)
            for message in reader.records(TOPIC, first, ends):
                receptionist.see(_stored(message))
            return receptionist.reception()

    def _judged_until(self, reader: TopicReader, ends: Mapping[int, int]) -> dict[int, int]:
        """By partition how far the engine came within the time that it is given."""
        progress = OrderProgress(
            {number: end for number, end in ends.items() if end > self._before.get(number, 0)}
        )
        deadline = time.monotonic() + self._seconds
        while True:
            end = reader.ends(ORDER)
            for message in reader.records(ORDER, self._order, end):
                with suppress(ValueError, KeyError, TypeError):
                    is_complete = progress.is_complete
                    progress.see(json.loads(message.value() or b""))
                    if progress.is_complete and not is_complete:
                        deadline = time.monotonic() + _GRACE_SECONDS
            self._order = end
            if progress.is_over or time.monotonic() > deadline or self._wait(_PAUSE_SECONDS):
                return progress.until


def _refused(reader: TopicReader) -> dict[Spot, str]:
    """What the engine refused within the last hour."""
    first = reader.since(REJECTED, time.time_ns() // 1_000_000 - _REJECTS_MS)
    refused: dict[Spot, str] = {}
    for message in reader.records(REJECTED, first, reader.ends(REJECTED)):
        headers = dict(message.headers() or [])
        if headers.get("topic") == TOPIC.encode():
            with suppress(ValueError, KeyError):
                spot = int(_bytes(headers["partition"])), int(_bytes(headers["offset"]))
                refused[spot] = _bytes(headers["reason"]).decode()
    return refused


def _reach(reader: TopicReader) -> int:
    """The reach of deduplication, in ms, as rules.v1 has it last."""
    reach = DEFAULT_REACH_MS
    ends = reader.ends(RULES)
    for message in reader.records(RULES, dict.fromkeys(ends, 0), ends):
        with suppress(ValueError, KeyError, TypeError):
            event = json.loads(message.value() or b"")
            if event["type"] == "SettingsChanged":
                settings = event["settings"]
                reach = 1_000 * (settings["allowedLatenessSeconds"] + settings["maxFutureSkewSeconds"])
    return reach


def _stored(message: Message) -> Stored:
    headers = dict(message.headers() or [])
    partition, offset = message.partition(), message.offset()
    assert partition is not None  # read from a broker
    assert offset is not None
    source = _bytes(headers.get("ce_source"))
    return Stored(partition, offset, message.timestamp()[1], _bytes(message.value()), source)


def _bytes(value: str | bytes | None) -> bytes:
    return value.encode() if isinstance(value, str) else value or b""
