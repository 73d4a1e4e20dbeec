"""One engine's life in `bench.wide`: it takes a preload, is killed, comes back to a backlog, keeps up with a rate."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from bench.figures.assessment import compared, latencies_ms, told_by
from bench.figures.engine_metrics import samples
from bench.figures.rates import rate_of
from bench.figures.results import Result
from bench.harness import engine
from bench.harness.clean_up import Held, held
from bench.harness.engine import Running, Workplace
from bench.harness.machine import Spent
from bench.harness.output_reader import ALERTS, ORDER, PROBE, OrderReader, Reader, create_probe
from bench.harness.stack import BenchFailed
from bench.harness.waiting import until, until_quiet
from bench.independent.expected import expected_alerts, order_of
from bench.workload.rule_publisher import publish
from bench.workload.sender import Sender, now_ms
from bench.workload.wide_load import Wide
from tripline_engine.spark.driver.disk_space import disk_bytes

_REBUILD_SECONDS: Final = "tripline_engine_rebuild_seconds_total"


@dataclass(frozen=True, slots=True)
class Run:
    """What came of it.

    :ivar preload_seconds: until the preload was sent and taken
    :ivar held: what the engine held then
    :ivar restarted: seconds from the start of the process to its first alert; `building` of these in the shards
    :ivar rate: payments a second out of the backlog, right after; `spent` by the whole machine then
    :ivar latencies_ms: of the live payments that are timed; `kafka_ms`: of probes of Kafka alone
    """

    preload_seconds: float
    held: Held
    restarted: float
    building: float
    rate: float
    spent: Spent
    latencies_ms: npt.NDArray[np.float64]
    kafka_ms: list[float]
    checked: list[Result]


class Scenario:
    """What happens to one engine; `place` is nobody else's."""

    def __init__(
        self, workplace: Workplace, wide: Wide, shards: int, warm_up: int, say: Callable[[str], None]
    ) -> None:
        self._workplace, self._wide, self._shards, self._say = workplace, wide, shards, say
        self._timed_from = wide.times.size + warm_up * wide.load.rate
        self._versions = wide.versions()
        self._sender = Sender(workplace.cluster, wide.load)
        create_probe(workplace.cluster)
        # alerts have a reader of their own: nothing else may hold them up
        self._alerts, self._others = (
            Reader(workplace.cluster, ALERTS, PROBE),
            Reader(workplace.cluster, ORDER, ALERTS),
        )
        self._order = OrderReader(self._others)

    def run(self) -> Run:
        """All of it."""
        running = self._start()
        try:
            self._say(f"mapped files are in {self._workplace.projection}")
            publish(self._workplace.cluster, self._versions)
            begin = time.monotonic()
            self._send(self._wide.preload)
            self._until_taken(running)
            preload_seconds = time.monotonic() - begin
            self._until_still(running)
            held_now = held(self._workplace, running)
            running.kill()
            self._say("killed; its mapped files are deleted, and a backlog is sent")
            engine.lose_projection(self._workplace)
            before = self._others.count(ORDER)
            self._send(self._wide.backlog)
            running = self._start()
            until(running, lambda: self._alerts.count(ALERTS) > 0, "the first alert")
            restarted = self._alerts.records(ALERTS)[0].at - running.started_at
            self._say(f"the first alert after {restarted:.1f} s")
            before_it = Spent.so_far()
            self._until_taken(running)
            spent = Spent.so_far() - before_it
            rate = self._rate(before)
            self._say(f"{rate:,.0f} a second out of the backlog; now live")
            building = samples(running.metrics()).get((_REBUILD_SECONDS, ""), 0.0)
            self._live(running)
        finally:
            running.stop()
            self._alerts.close()
            self._others.close()
        self._say("comparing with the independent count")
        alerts = {alert["alertId"]: (read_at, alert) for read_at, alert in self._read()}
        latencies = latencies_ms(alerts, self._sender.due_at, self._timed_from)
        checked = self._checked({identity: alert for identity, (_, alert) in alerts.items()})
        checked.append(engine.compiled_late(self._workplace.log))
        return Run(
            preload_seconds, held_now, restarted, building, rate, spent, latencies, self._probes(), checked
        )  # fmt: skip

    def _start(self) -> Running:
        return engine.start(self._workplace, self._shards)

    def _send(self, times: npt.NDArray[np.int64]) -> None:
        self._sender.send(times)
        if self._sender.failures:
            raise BenchFailed(f"Kafka did not take everything: {self._sender.failures[0]}")

    def _until_taken(self, running: Running) -> None:
        until(running, lambda: self._order.advance() >= self._sender.sent, "all payments are taken")

    def _until_still(self, running: Running) -> None:
        """Until its mapped files stay as large: what has become far too large is built again, without a word."""
        before, size = 0, disk_bytes(self._workplace.projection)
        while abs(size - before) > size / 100:
            until_quiet(running, self._workplace, self._others)
            before, size = size, disk_bytes(self._workplace.projection)

    def _rate(self, before: int) -> float:
        """Of the micro-batches but the first so many."""
        taken, progress = 0, []
        for record in self._others.records(ORDER, before):
            taken += sum(part["until"] - part["from"] for part in json.loads(record.value)["transactions"])
            progress.append((record.at, taken))
        return rate_of(progress)

    def _live(self, running: Running) -> None:
        """The rest on a clock, once that is past the backlog's times."""
        ahead = (int(self._wide.times[-1]) - now_ms()) / 1_000
        if ahead > 0:
            self._say(f"waiting {ahead:.0f} s for the moment at which the backlog ends")
            time.sleep(ahead)
        stop = threading.Event()
        thread = threading.Thread(target=self._sender.live, args=(stop,), name="live", daemon=True)
        thread.start()
        try:
            until(running, lambda: not thread.is_alive(), "all is sent")
        finally:
            stop.set()
            thread.join()
        self._until_taken(running)
        until_quiet(running, self._workplace, self._others)

    def _read(self) -> list[tuple[float, dict[str, Any]]]:
        """Each alert with the moment of the first read, whatever is read twice later."""
        return [(record.at, json.loads(record.value)) for record in reversed(self._alerts.records(ALERTS))]

    def _probes(self) -> list[float]:
        since = self._sender.due_at[self._timed_from]
        sent = [(record.at, float(record.value)) for record in self._alerts.records(PROBE)]
        return [(told_at - called) * 1_000 for told_at, called in sent if called >= since]

    def _checked(self, alerts: dict[str, dict[str, Any]]) -> list[Result]:
        load, event_time = self._wide.load, self._sender.event_time
        order = order_of(load, event_time, self._order.batches, len(self._versions))
        subjects = [version.subject for version in self._versions]
        expected = expected_alerts(load, event_time, order, self._versions, subjects)
        return compared(expected, {identity: told_by(alert) for identity, alert in alerts.items()})
