"""One engine's life in `bench.restart`: it takes a history, is killed, comes back, and lets go of the history."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from bench.figures.assessment import compared, told_by
from bench.figures.engine_metrics import samples
from bench.figures.results import Result
from bench.harness import engine
from bench.harness.clean_up import Cleaned, Held, held
from bench.harness.engine import Running, Workplace
from bench.harness.output_reader import ALERTS, ORDER, OrderReader, Reader
from bench.harness.stack import BenchFailed
from bench.harness.state_log import logged
from bench.harness.waiting import until, until_quiet
from bench.independent.expected import expected_alerts, order_of
from bench.workload.restart_load import LINGERING, RULES, STEPS, WITNESS, Retaining
from bench.workload.rule_publisher import publish
from bench.workload.sender import Sender
from bench.workload.workload import number_of
from tripline_engine.spark.driver.disk_space import disk_bytes

_LINGER_SECONDS: Final = 0.3
_REBUILDS: Final = "tripline_engine_rebuilds_total"
_REBUILD_SECONDS: Final = "tripline_engine_rebuild_seconds_total"
_ROWS: Final = "tripline_engine_history_rows"


@dataclass(frozen=True, slots=True)
class Options:
    """What a run is made of; `linger` is how many micro-batches go on after the history has passed."""

    shards: int
    per_batch: int
    linger: int
    seed: int


@dataclass(frozen=True, slots=True)
class Restarted:
    """What came of a restart.

    :ivar seconds: process start to the first new alert
    :ivar building: of these, for building arrays again
    :ivar rebuilds: how many shards' arrays were
    :ivar rows: transactions held then, over all anchors
    :ivar witnessed: value of the alert that rests on the whole history; 0 without it
    """

    seconds: float
    building: float
    rebuilds: float
    rows: float
    witnessed: int


@dataclass(frozen=True, slots=True)
class Run:
    """A restart, what history left behind when it had passed, and all alerts against the count.

    :ivar needed: the value of the alert that rests on the whole history, if nothing of it was lost
    """

    payments: int
    options: Options
    needed: int
    restarted: Restarted
    cleaned: Cleaned
    checked: list[Result]


class Scenario:
    """What happens to one engine; `place` is nobody else's."""

    def __init__(
        self, workplace: Workplace, history: Retaining, options: Options, say: Callable[[str], None]
    ) -> None:
        self._workplace, self._history, self._options, self._say = workplace, history, options, say
        self._versions = history.versions()
        self._sender = Sender(workplace.cluster, history.load)
        self._reader = Reader(workplace.cluster, ORDER, ALERTS)
        self._order = OrderReader(self._reader)

    def run(self) -> Run:
        """All of it."""
        running = self._start()
        try:
            publish(self._workplace.cluster, self._versions)
            self._take(running, 0)
            baseline = held(self._workplace, running)
            self._say("the baseline is taken; the history is sent")
            self._take(running, 1)
            files, workers = disk_bytes(self._workplace.projection), running.worker_bytes()
            running.kill()
            self._say(f"killed with {self._history.trip:,} payments taken")
            log, ticks = logged(self._workplace), self._ticks()
            engine.lose_projection(self._workplace)
            self._sender.send(self._history.part(2))
            running = self._start()
            restarted = self._restarted(running, ticks)
            self._say(f"the first alert after {restarted.seconds:.1f} s")
            peak = held(self._workplace, running, log)
            peak = Held(
                peak.rows, peak.arrays, max(files, peak.files), max(workers, peak.workers), log, peak.state
            )
            after = [self._cleaned_up(running, 3 + step) for step in range(STEPS)]
            before = len(self._order.batches)
            lingered = self._linger(running)
            lingering = len(self._order.batches) - before
        finally:
            running.stop()
            self._reader.close()
            self._sender.close()
        cleaned = Cleaned(baseline, peak, after, lingering, lingered)
        checked = [*self._checked(), engine.compiled_late(self._workplace.log)]
        return Run(self._history.trip, self._options, self._needed, restarted, cleaned, checked)

    def _start(self) -> Running:
        return engine.start(self._workplace, self._options.shards, self._options.per_batch)

    def _take(self, running: Running, part: int) -> None:
        """Send a part, and wait until the engine has taken it and is at rest."""
        self._sender.send(self._history.part(part))
        if self._sender.failures:
            raise BenchFailed(f"Kafka did not take everything: {self._sender.failures[0]}")
        self._until_taken(running)

    def _until_taken(self, running: Running) -> None:
        until(running, lambda: self._order.advance() >= self._sender.sent, "all payments are taken")
        self._until_quiet(running)

    def _restarted(self, running: Running, ticks: int) -> Restarted:
        """What came of it; so many `ticks` were taken before. Where data stand still no other one follows the first."""
        assert self._reader.count(ALERTS) == 0, "no rule judges before the restart"
        until(running, lambda: self._reader.count(ALERTS) > 0, "the first alert")
        seconds = self._reader.records(ALERTS)[0].at - running.started_at
        self._until_taken(running)
        # its clock lies before the jump: none of the clean-ups that are counted
        until(running, lambda: self._ticks() > ticks, "a tick")
        self._until_quiet(running)
        metrics = samples(running.metrics())
        building = metrics.get((_REBUILD_SECONDS, ""), 0.0)
        return Restarted(seconds, building, metrics[_REBUILDS, ""], metrics[_ROWS, ""], self._witnessed())

    def _cleaned_up(self, running: Running, part: int) -> tuple[int, Held]:
        """What is held after the micro-batches with a tick that follow the part, and how many those are."""
        before = self._ticks()
        self._take(running, part)
        until(running, lambda: self._ticks() > before, "a tick")
        self._until_quiet(running)
        return self._ticks() - before, held(self._workplace, running)

    def _linger(self, running: Running) -> int:
        """Micro-batches of a few payments; what the state takes of the disk then."""
        times = self._history.part(len(self._history.ends) - 1)
        for start in range(0, len(times), LINGERING):
            self._sender.send(times[start : start + LINGERING])
            time.sleep(_LINGER_SECONDS)
        self._until_taken(running)
        return self._workplace.state_bytes()

    def _ticks(self) -> int:
        """How many micro-batches so far had a tick."""
        self._order.advance()
        return sum(batch["ticks"] is not None for batch in self._order.batches)

    def _until_quiet(self, running: Running) -> None:
        until_quiet(running, self._workplace, self._reader)

    @property
    def _needed(self) -> int:
        return next(int(version.limit) + 1 for version in self._versions if version.subject is WITNESS)

    def _alerts(self) -> list[dict[str, Any]]:
        return [json.loads(record.value) for record in self._reader.records(ALERTS)]

    def _witnessed(self) -> int:
        values = [
            int(alert["value"])
            for alert in self._alerts()
            if alert["ruleId"] == WITNESS.rule_id
            and number_of(alert["transaction"]["transactionId"]) == self._history.trip
        ]
        return values[0] if values else 0

    def _checked(self) -> list[Result]:
        load, event_time = self._history.load, self._sender.event_time
        order = order_of(load, event_time, self._order.batches, len(self._versions))
        expected = expected_alerts(load, event_time, order, self._versions, RULES)
        return compared(expected, {str(alert["alertId"]): told_by(alert) for alert in self._alerts()})
