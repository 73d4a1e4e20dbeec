"""One shard that is fed by hand: the stream's evaluator over a state log in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from tripline_engine.domain.judging.anchor_tuning import Telling
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_version import Rule
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.shard.engine_config import EngineConfig
from tripline_engine.domain.shard.ports import Kind, OutRecord, Payload
from tripline_engine.domain.shard.shard_tuning import that_tells
from tripline_engine.domain.shard.shard_worker import Attached, ShardWorker
from tripline_engine.domain.shard.tick import TickAhead, UnreadableTick, read_tick, tick_payload
from tripline_engine.domain.state_log.head import Head
from tripline_engine.domain.state_log.memory_log import MemoryLog
from tripline_engine.kafka_log.record import Record


class ReplayedShard:
    """The shard, and ticks that wait until they matter.

    Ticks only ever raise the clock, and the floors that follow it: of several in a row the highest does what all of
    them do, but for the very first one, from which warmth is counted.

    :ivar clock: the highest valid tick so far, ms
    :ivar counters: of what was fed last
    """

    def __init__(self, config: EngineConfig, telling: Telling) -> None:
        self._config = config
        self._tuning = that_tells(telling)
        self._log = MemoryLog()
        self._attached: Attached = {}
        self._waiting: Record | None = None
        self.clock: int | None = None
        self.counters: Counter[str] = Counter()

    def tick(self, ticks: Sequence[Record], *, on_demand: bool) -> None:
        """Take ticks of a micro-batch of which nothing else is fed."""
        for record in ticks:
            clock = self._clock_of(record)
            if clock is None or (self.clock is not None and clock < self.clock):
                continue
            is_first = self.clock is None
            self.clock, self._waiting = clock, record
            if is_first:
                self._flush(on_demand=on_demand)

    def take(
        self,
        rules: Sequence[Record],
        ticks: Sequence[Record],
        transactions: Sequence[Payload],
        *,
        on_demand: bool,
    ) -> list[OutRecord]:
        """What comes of a micro-batch.

        :param on_demand: whether anchors are kept where rules need them, or always
        """
        self._flush(on_demand=on_demand)
        for record in ticks:
            clock = self._clock_of(record)
            if clock is not None:
                self.clock = max(clock, self.clock or clock)
        payloads = [
            *(Payload(Kind.RULE_EVENT, record.value or b"", record.offset) for record in rules),
            *(_tick(record) for record in ticks),
            *transactions,
        ]
        return self._process(payloads, on_demand=on_demand)

    def telling(self, telling: Telling) -> ReplayedShard:
        """One that goes on from here by itself, and tells so much: its arrays are built anew from the log."""
        other = ReplayedShard(self._config, telling)
        other._log, other._waiting, other.clock = self._log.copy(), self._waiting, self.clock
        return other

    def promote(self, rules: Iterable[Rule], after: int, *, on_demand: bool) -> None:
        """Have what comes next judged by the shadows of these rules, with all that they know, as once promoted.

        No engine was told so. It is what tells evaluations and counts of a shadow, which an engine never does.

        :param after: the position of the last rule event
        """
        self._flush(on_demand=on_demand)
        events = [
            msgspec.json.encode(
                {
                    "type": "RuleShadowPromoted",
                    "position": position,
                    "ruleId": rule.rule_id,
                    "version": rule.version + 1,
                    "definitionVersion": rule.shadow.version,
                    "state": "ACTIVE",
                }
            )
            for position, rule in enumerate(rules, after + 1)
            if rule.shadow is not None
        ]
        payloads = [Payload(Kind.RULE_EVENT, event, number) for number, event in enumerate(events)]
        self._process(payloads, on_demand=on_demand)

    @property
    def book(self) -> RuleBook:
        """The rule book as it stands."""
        projections = list(self._attached.values())
        return projections[0].book if projections else RuleBook(self._config.event_type)

    @property
    def watermarks(self) -> Watermarks:
        """The watermarks as they stand."""
        return Head.read(self._log, self._config.event_type).watermarks

    def _flush(self, *, on_demand: bool) -> None:
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self._process([_tick(waiting)], on_demand=on_demand)

    def _process(self, payloads: Sequence[Payload], *, on_demand: bool) -> list[OutRecord]:
        config = replace(self._config, anchors_on_demand=on_demand)
        worker = ShardWorker(config, 0, self._log, None, _no_time, self._attached, self._tuning)
        records = worker.process(payloads)
        self.counters = worker.counters
        return records

    def _clock_of(self, record: Record) -> int | None:
        try:
            return read_tick(tick_payload(record.timestamp, record.value), self._config.clock)
        except (UnreadableTick, TickAhead):
            return None


def _tick(record: Record) -> Payload:
    return Payload(Kind.TICK, tick_payload(record.timestamp, record.value), record.offset)


def _no_time() -> int:
    """Of a proof the time of detection is no part."""
    return 0
