"""The driver's ticker: about once a second it measures the lag of each partition and advances the record clock."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import structlog
from confluent_kafka import KafkaException

from tripline_engine.domain.shard.engine_config import Clock
from tripline_engine.spark.driver.tick_policy import DEFAULT_IDLE_SECONDS, OrderedRange, TickState, next_tick

_log = structlog.get_logger(__name__)
_INTERVAL_SECONDS: Final = 1.0
_FILE: Final = "ticker.json"


class Stream(Protocol):
    """The ticker's port to Kafka and the checkpoint; all offsets are exclusive ends."""

    def transaction_ends(self) -> Mapping[int, int]: ...

    def committed(self) -> Mapping[int, int]: ...

    def order_records(self) -> Iterable[Any]: ...

    def rule_events(self) -> Iterable[Any]: ...

    def send_tick(self, clock: int) -> None: ...

    order_position: int


@dataclass(frozen=True, slots=True)
class Clocks:
    """`wall_ms` since the epoch; `elapsed_ms` is monotonic, for differences only."""

    wall_ms: Callable[[], int]
    elapsed_ms: Callable[[], int]


class Ticker:
    """One step a second; survives an outage of Kafka, and a restart by a small file beside the checkpoint.

    While `repeats_tick` returns true, the last tick is sent again where there is no higher one: with each tick history
    evicts transactions that no window holds any more.
    """

    def __init__(
        self,
        stream: Stream,
        checkpoint: Path,
        engine_id: str,
        mode: Clock,
        clocks: Clocks,
        repeats_tick: Callable[[], bool] = lambda: False,
    ) -> None:
        self._stream = stream
        self._file = checkpoint / _FILE
        self._engine_id = engine_id
        self._mode = mode
        self._clocks = clocks
        self._repeats_tick = repeats_tick
        self._idle_seconds = DEFAULT_IDLE_SECONDS
        self._rule_position = 0
        self._state = TickState()
        self._last: int | None = None
        self.unread: dict[int, int] = {}
        self._restore()

    def run(self, stop: threading.Event, report: Callable[[Mapping[int, int], int | None], None]) -> None:
        """Steps until told to stop; `report` gets the unread records by partition and the last tick."""
        while not stop.wait(_INTERVAL_SECONDS):
            try:
                self.step()
            except (KafkaException, OSError) as error:
                _log.warning("ticker_waits", reason=str(error))
                continue
            report(self.unread, self._last)

    def step(self) -> int | None:
        """Measures once; sends a tick and returns its clock if it is higher than the last one sent, or repeated."""
        # ends before commits: a record that arrives in between makes a partition look busy, never idle
        ends = self._stream.transaction_ends()
        committed = self._stream.committed()
        wall = self._clocks.wall_ms() if self._mode == "wall" else None
        self._state.take(self._ranges(), committed, wall)
        self._take_settings()
        self.unread = {
            partition: max(0, end - committed.get(partition, 0)) for partition, end in ends.items()
        }
        partitions = self._state.observe(ends, self.unread, self._clocks.elapsed_ms())
        clock = next_tick(partitions, self._idle_seconds * 1000, wall)
        if clock is None or clock < 0 or (self._last is not None and clock <= self._last):
            if self._last is None or not self._repeats_tick():
                return None
            clock = self._last
        self._stream.send_tick(clock)
        self._last = clock
        self._save()
        return clock

    def _ranges(self) -> list[OrderedRange]:
        return [
            OrderedRange(part["partition"], part["until"], part["maxRecordTime"])
            for record in self._stream.order_records()
            # another engine may have written to the same topic before this checkpoint was made
            if isinstance(record, dict) and record.get("engine") == self._engine_id
            for part in record["transactions"]
        ]

    def _take_settings(self) -> None:
        for event in self._stream.rule_events():
            # as the shards do: each position once, and nothing that is further ahead
            position = event.get("position") if isinstance(event, dict) else None
            if position != self._rule_position + 1 or isinstance(position, bool):
                continue
            self._rule_position += 1
            settings = event.get("settings")
            if isinstance(settings, dict) and event.get("type") == "SettingsChanged":
                seconds = settings.get("idlePartitionSeconds")
                if isinstance(seconds, int) and not isinstance(seconds, bool) and seconds >= 0:
                    self._idle_seconds = seconds

    def _save(self) -> None:
        position = self._stream.order_position
        save_state(self._file.parent, self._engine_id, position, self._state, self._last)

    def _restore(self) -> None:
        """Restores from the file, a cache: without it engine-order.v1 is read from its beginning."""
        try:
            saved = json.loads(self._file.read_text(encoding="utf-8"))
            times = {int(partition): int(time) for partition, time in saved["maxRecordTimes"].items()}
            uncommitted = [OrderedRange(*map(int, fields)) for fields in saved["uncommitted"]]
            position, last = int(saved["orderPosition"]), saved["last"]
            if saved.get("engine", self._engine_id) != self._engine_id:
                return  # left by an abandoned rebuild
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            _log.warning("ticker_state_unreadable", reason=str(error))
            return
        self._state = TickState(times, uncommitted)
        self._stream.order_position, self._last = position, last


def save_state(
    checkpoint: Path, engine: str, order_position: int, state: TickState, last: int | None
) -> None:
    """Saves the ticker's state: the order read up to `order_position`; `last` is the clock of the last tick."""
    saved = {
        "engine": engine,
        "orderPosition": order_position,
        "maxRecordTimes": state.max_record_times,
        "uncommitted": [[r.partition, r.until, r.max_record_time] for r in state.uncommitted],
        "last": last,
    }
    new = (checkpoint / _FILE).with_suffix(".new")
    new.write_text(json.dumps(saved), encoding="utf-8")
    new.replace(checkpoint / _FILE)
