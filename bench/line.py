"""The line from a payment sent to its alert read, at a steady rate, with full windows and rules that change."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from bench.reading import ALERTS, ORDER, REJECTS, STATUS, OrderReader, Reader
from bench.rules import FIVE, UNREACHABLE, RuleLog, limits
from bench.sending import Sender, now_ms
from bench.stack import BenchFailed, Engine, Stack, wait_until_ready
from bench.workload import Workload, make

SHARDS: Final = 2
MIN_ALERTS_PER_RULE: Final = 1_000
_DRAIN_SECONDS: Final = 120.0
_QUIET_SECONDS: Final = 3.0
_STEP: Final = Decimal("0.01")

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Options:
    """`seconds` are measured; `warm_up_seconds` of the same traffic before them are checked but not timed."""

    seconds: int = 300
    rate: int = 2_000
    rule_change_seconds: int = 10
    preload_minutes: int = 60
    warm_up_seconds: int = 15
    seed: int = 1

    @property
    def preloaded(self) -> int:
        """Transactions before the live ones."""
        return self.preload_minutes * 60 * self.rate

    @property
    def live(self) -> int:
        """Warm-up included."""
        return (self.seconds + self.warm_up_seconds) * self.rate


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that a run leaves behind; `backlog` holds (seconds, unread transactions) of the timed part."""

    options: Options
    load: Workload
    sender: Sender
    log: RuleLog
    order: OrderReader
    alerts: dict[str, tuple[float, dict[str, object]]]
    backlog: list[tuple[float, int]]
    applied_ms: list[float]
    rejects: int
    gap_seconds: float
    catch_up_seconds: float
    timed_seconds: float


class Run:
    """One run on a stack."""

    def __init__(self, options: Options, stack: Stack, say: Say) -> None:
        self._options, self._stack, self._say = options, stack, say
        self._log = RuleLog()
        self._published: dict[tuple[int, int], float] = {}
        self._load = make(options.rate, options.preloaded, options.live, options.seed)
        say("calibrating the limits")
        alerts_per_rule = max(options.live // 1_000, MIN_ALERTS_PER_RULE)
        self._limits = limits(self._load, alerts_per_rule)
        self._sender = Sender(stack.bootstrap_servers, self._load)

    def measure(self) -> Measured:
        """Preloads, starts the engine, lets it catch up, then sends and watches. Raises BenchFailed."""
        until = self._preload()
        with self._stack.engine(SHARDS) as engine:
            begin = time.monotonic()
            # alerts have a reader of their own: nothing else may hold them up
            alerts = Reader(self._stack.bootstrap_servers, ALERTS)
            others = Reader(self._stack.bootstrap_servers, ORDER, STATUS, REJECTS)
            try:
                order = OrderReader(others)
                self._say(f"engine ready after {wait_until_ready(engine):.0f} s")
                self._catch_up(engine, order, self._options.preloaded)
                caught_up = time.monotonic() - begin
                gap = self._until_the_preload_ends(until)
                backlog, timed = self._live(engine, order)
                self._drain(engine, order, alerts)
                return Measured(
                    self._options, self._load, self._sender, self._log, order, _first_reads(alerts), backlog,
                    self._applied(others), others.count(REJECTS), gap, caught_up, timed,
                )  # fmt: skip
            finally:
                alerts.close()
                others.close()

    def _preload(self) -> int:
        """The moment (ms) at which the preloaded hour ends: when the live part is likely to begin."""
        self._publish_all(unreachable=True, effective_from=0)
        expected_seconds = 60 + self._options.preloaded // 30_000
        until = now_ms() + expected_seconds * 1_000
        self._say(f"preloading {self._options.preloaded:,} transactions")
        begin = time.monotonic()
        self._sender.preload(until)
        self._say(f"preloaded in {time.monotonic() - begin:.0f} s")
        return until

    def _catch_up(self, engine: Engine, order: OrderReader, count: int) -> None:
        deadline = time.monotonic() + 60 + count / 5_000
        while order.advance() < count:
            engine.check()
            if time.monotonic() > deadline:
                raise BenchFailed(f"the engine took {order.advance():,} of {count:,} transactions in time")
            time.sleep(0.2)
        self._say("the engine has caught up")

    def _until_the_preload_ends(self, until: int) -> float:
        """Seconds of silence in the windows because catching up took longer than planned; 0 at best."""
        wait = (until - now_ms()) / 1_000
        if wait > 0:
            self._say(f"waiting {wait:.0f} s for the moment at which the preloaded payments end")
            time.sleep(wait)
        return max(0.0, -wait)

    def _live(self, engine: Engine, order: OrderReader) -> tuple[list[tuple[float, int]], float]:
        self._publish_all(unreachable=False, effective_from=now_ms())
        self._sender.flush()
        stop = threading.Event()
        thread = threading.Thread(target=self._sender.live, args=(stop,), name="live", daemon=True)
        self._say(
            f"{self._options.rate:,} a second for {self._options.warm_up_seconds} + {self._options.seconds} s"
        )
        thread.start()
        timed_from = self._load.preloaded + self._options.warm_up_seconds * self._options.rate
        backlog: list[tuple[float, int]] = []
        begin = time.monotonic()
        changes = 0
        try:
            while thread.is_alive():
                thread.join(1.0)
                engine.check()
                elapsed = time.monotonic() - begin
                if elapsed >= (changes + 1) * self._options.rule_change_seconds:
                    self._change(changes)
                    changes += 1
                sent = self._sender.sent
                taken = order.advance()
                if timed_from <= sent < len(self._load):
                    backlog.append((elapsed, sent - taken))
        finally:
            stop.set()
            thread.join()
        return backlog, time.monotonic() - begin

    def _change(self, number: int) -> None:
        """A new version of one rule after the other: its limit a cent (or a payment) higher or lower."""
        subject = FIVE[number % len(FIVE)]
        step = Decimal(1) if subject.function == "COUNT" else _STEP
        up = number // len(FIVE) % 2 == 0
        self._publish(subject.rule_id, self._limits[subject.rule_id] + (step if up else 0), now_ms())

    def _publish_all(self, *, unreachable: bool, effective_from: int) -> None:
        for subject in FIVE:
            limit = UNREACHABLE if unreachable else self._limits[subject.rule_id]
            self._publish(subject.rule_id, limit, effective_from)

    def _publish(self, rule_id: int, limit: Decimal, effective_from: int) -> None:
        subject = FIVE[rule_id - 1]
        self._sender.publish(self._log, subject, limit, effective_from)
        self._published[rule_id, len(self._log.of(subject))] = time.time()

    def _drain(self, engine: Engine, order: OrderReader, alerts: Reader) -> None:
        """Until everything sent is in an order record, and no alert has come for a while after that."""
        deadline = time.monotonic() + _DRAIN_SECONDS
        while order.advance() < len(self._load):
            engine.check()
            if time.monotonic() > deadline:
                raise BenchFailed(f"{len(self._load) - order.advance():,} transactions were left unread")
            time.sleep(0.1)
        seen, quiet_since = alerts.count(ALERTS), time.monotonic()
        while time.monotonic() - quiet_since < _QUIET_SECONDS:
            time.sleep(0.1)
            if alerts.count(ALERTS) != seen:
                seen, quiet_since = alerts.count(ALERTS), time.monotonic()

    def _applied(self, others: Reader) -> list[float]:
        """Per version published while payments flowed: ms until the last shard's status was read."""
        applied: dict[tuple[int, int], float] = {}
        for record in others.records(STATUS):
            status = json.loads(record.value)
            version = (status["ruleId"], status["version"])
            applied[version] = max(applied.get(version, 0.0), record.at)
        # versions 1 and 2 were there before the payments
        live = [version for version in self._published if version[1] > 2]
        return [
            (applied[version] - self._published[version]) * 1_000 for version in live if version in applied
        ]


def _first_reads(alerts: Reader) -> dict[str, tuple[float, dict[str, object]]]:
    """Alerts by id with the moment of the first read: the sink writes at least once."""
    found: dict[str, tuple[float, dict[str, object]]] = {}
    for record in alerts.records(ALERTS):
        alert = json.loads(record.value)
        found.setdefault(alert["alertId"], (record.at, alert))
    return found
