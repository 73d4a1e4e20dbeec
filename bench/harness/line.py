"""The line from a payment sent to its alert read, at a steady rate, with full windows and rules that change."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from bench.harness.output_reader import ALERTS, ORDER, PROBE, REJECTS, RULES, STATUS, OrderReader, Reader
from bench.harness.stack import BenchFailed, Stack
from bench.harness.stream_follower import Following
from bench.workload.registry_client import Registry
from bench.workload.rules import FIVE, UNREACHABLE, Version, limits, versions_of
from bench.workload.sender import Sender, now_ms
from bench.workload.workload import Workload, make

MIN_ALERTS_PER_RULE: Final = 1_000
_DRAIN_SECONDS: Final = 120.0
_QUIET_SECONDS: Final = 3.0
_APPLIED_SECONDS: Final = 60.0
_STEP: Final = Decimal("0.01")
_PRELOAD_RATE: Final = 40_000
"""Transactions a second that an engine of two cores takes at least while it catches up."""

_WORK: Final = 50_000

Say = Callable[[str], None]
Observe = Callable[[Stack], None]


@dataclass(frozen=True, slots=True)
class Options:
    """`seconds` are measured; `warm_up_seconds` of the same traffic before them are checked but not timed.

    :ivar follow: follow the alert API's stream too, and time what it tells
    """

    seconds: int = 300
    rate: int = 2_000
    rule_change_seconds: int = 10
    preload_minutes: int = 60
    warm_up_seconds: int = 120
    seed: int = 1
    follow: bool = False

    @property
    def preloaded(self) -> int:
        """Transactions before the live ones."""
        return self.preload_minutes * 60 * self.rate

    @property
    def live(self) -> int:
        """Warm-up included."""
        return (self.seconds + self.warm_up_seconds) * self.rate

    @property
    def timed_from(self) -> int:
        """The first transaction that is timed."""
        return self.preloaded + self.warm_up_seconds * self.rate


@dataclass(frozen=True, slots=True)
class Watched:
    """The live part: `backlog` holds (seconds, unread transactions) and the two texts are the engine's metrics
    when the timed part began and when it ended. `work_ms`: what a fixed piece of work took, every second."""

    backlog: list[tuple[float, int]]
    metrics: tuple[str, str]
    work_ms: list[float]


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that a run leaves behind.

    :ivar told_at: by alert id, when the alert API's stream told of it (monotonic clock); empty if nobody followed
    :ivar applied: per rule version, when the registry was asked (monotonic clock), and ms until all shards had it
    """

    options: Options
    load: Workload
    sender: Sender
    versions: list[Version]
    rule_events: int
    order: OrderReader
    alerts: dict[str, tuple[float, dict[str, object]]]
    told_at: dict[str, float]
    probes_ms: list[float]
    watched: Watched
    applied: list[tuple[float, float]]
    rejects: int
    gap_seconds: float
    catch_up_seconds: float


def fixed_work_ms() -> float:
    """Processor time in ms of some arithmetic: that of a machine which is somebody else's too varies by the minute."""
    begin = time.process_time()
    sum(number * number for number in range(_WORK))
    return (time.process_time() - begin) * 1_000


class Run:
    """One run on a stack; `observe` is called every second of the timed part."""

    def __init__(
        self, options: Options, stack: Stack, load: Workload, say: Say, observe: Observe | None = None
    ) -> None:
        self._options, self._stack, self._load, self._say = options, stack, load, say
        self._observe = observe
        self._limits = limits(load, max(options.live // 1_000, MIN_ALERTS_PER_RULE))
        self._sender = Sender(stack.kafka, load)

    def measure(self) -> Measured:
        """Preloads, lets the engine catch up, then sends and watches. Raises BenchFailed."""
        with (
            # alerts have a reader of their own: nothing else may hold them up
            _reader(self._stack, ALERTS, PROBE) as alerts,
            _reader(self._stack, ORDER, STATUS, REJECTS, RULES) as others,
            Registry(self._stack.registry, self._stack.key) as registry,
        ):
            order = OrderReader(others)
            begin = time.monotonic()
            gap = self._fill(registry, order)
            caught_up = time.monotonic() - begin - max(0.0, -gap)
            with self._following() as told_at:
                watched = self._live(registry, order, others)
                self._drain(order, alerts)
            events = [(record.offset, record.value) for record in others.records(RULES)]
            return Measured(
                self._options, self._load, self._sender, versions_of(events), len(events), order,
                _first_reads(alerts), told_at, self._probes(alerts), watched, _applied(registry, others),
                others.count(REJECTS), max(0.0, gap), caught_up,
            )  # fmt: skip

    @contextmanager
    def _following(self) -> Iterator[dict[str, float]]:
        if not self._options.follow:
            yield {}
            return
        with Following(self._stack.alert_api, self._stack.key) as following:
            yield following.told_at

    def _fill(self, registry: Registry, order: OrderReader) -> float:
        """Fills the windows; seconds between their end and now. Negative: it was waited for."""
        count = self._options.preloaded
        self._publish_all(registry, unreachable=True, effective_from=0)
        until = now_ms() + (10 + count // _PRELOAD_RATE) * 1_000
        self._say(f"sending {count:,} payments of the last {self._options.preload_minutes} minutes")
        self._sender.preload(until)
        self._say("waiting until the engine has taken them")
        deadline = time.monotonic() + 60 + count / 5_000
        while order.advance() < count:
            self._stack.check()
            if time.monotonic() > deadline:
                raise BenchFailed(f"the engine took {order.advance():,} of {count:,} transactions in time")
            time.sleep(0.2)
        gap = (now_ms() - until) / 1_000
        if gap < 0:
            self._say(f"waiting {-gap:.0f} s for the moment at which the preloaded payments end")
            time.sleep(-gap)
        return gap

    def _live(self, registry: Registry, order: OrderReader, others: Reader) -> Watched:
        options = self._options
        self._publish_all(registry, unreachable=False, effective_from=now_ms())
        self._wait_until_applied(registry, others)
        stop = threading.Event()
        thread = threading.Thread(target=self._sender.live, args=(stop,), name="live", daemon=True)
        self._say(f"{options.rate:,} a second for {options.warm_up_seconds} + {options.seconds} s")
        thread.start()
        try:
            return self._watch(registry, order, thread)
        finally:
            stop.set()
            thread.join()

    def _watch(self, registry: Registry, order: OrderReader, thread: threading.Thread) -> Watched:
        backlog: list[tuple[float, int]] = []
        work: list[float] = []
        before, begin, changes = "", time.monotonic(), 0
        while thread.is_alive():
            thread.join(1.0)
            self._stack.check()
            elapsed = time.monotonic() - begin
            while elapsed >= (changes + 1) * self._options.rule_change_seconds:
                self._change(registry, changes)
                changes += 1
            sent, taken = self._sender.sent, order.advance()
            if self._options.timed_from <= sent < len(self._load):
                before = before or self._stack.metrics()
                backlog.append((elapsed, sent - taken))
                work.append(fixed_work_ms())
                if self._observe is not None:
                    self._observe(self._stack)
        return Watched(backlog, (before, self._stack.metrics()), work)

    def _change(self, registry: Registry, number: int) -> None:
        """A new version of one rule after the other: its limit a cent (or a payment) higher or lower."""
        subject = FIVE[number % len(FIVE)]
        step = Decimal(1) if subject.function == "COUNT" else _STEP
        up = number // len(FIVE) % 2 == 0
        registry.publish(subject, self._limits[subject.rule_id] + (step if up else 0), now_ms())

    def _publish_all(self, registry: Registry, *, unreachable: bool, effective_from: int) -> None:
        for subject in FIVE:
            limit = UNREACHABLE if unreachable else self._limits[subject.rule_id]
            registry.publish(subject, limit, effective_from)

    def _wait_until_applied(self, registry: Registry, others: Reader) -> None:
        deadline = time.monotonic() + _APPLIED_SECONDS
        while _applied_at(others).keys() < registry.asked_at.keys():
            self._stack.check()
            if time.monotonic() > deadline:
                raise BenchFailed(f"the rules were not applied within {_APPLIED_SECONDS:.0f} s")
            time.sleep(0.05)

    def _drain(self, order: OrderReader, alerts: Reader) -> None:
        """Until everything sent is in an order record, and no alert has come for a while after that."""
        deadline = time.monotonic() + _DRAIN_SECONDS
        while order.advance() < len(self._load):
            self._stack.check()
            if self._sender.failures:
                raise BenchFailed(f"Kafka did not take everything: {self._sender.failures[0]}")
            if time.monotonic() > deadline:
                raise BenchFailed(f"{len(self._load) - order.advance():,} transactions were left unread")
            time.sleep(0.1)
        seen, quiet_since = alerts.count(ALERTS), time.monotonic()
        while time.monotonic() - quiet_since < _QUIET_SECONDS:
            time.sleep(0.1)
            if alerts.count(ALERTS) != seen:
                seen, quiet_since = alerts.count(ALERTS), time.monotonic()

    def _probes(self, alerts: Reader) -> list[float]:
        """ms from sent to read of those probes that were sent in the timed part."""
        timed_from = self._sender.due_at[self._options.timed_from]
        sent = [(record.at, float(record.value)) for record in alerts.records(PROBE)]
        return [(told_at - since) * 1_000 for told_at, since in sent if since >= timed_from]


@contextmanager
def _reader(stack: Stack, *topics: str) -> Iterator[Reader]:
    reader = Reader(stack.kafka, *topics)
    try:
        yield reader
    finally:
        reader.close()


def prepared(options: Options) -> Workload:
    """What will be sent."""
    return make(options.rate, options.preloaded, options.live, options.seed)


def _applied_at(others: Reader) -> dict[tuple[int, int], float]:
    """Per rule and version that all shards have taken: when the last one's status was read."""
    taken_by: dict[tuple[int, int], set[int]] = {}
    applied: dict[tuple[int, int], float] = {}
    for record in others.records(STATUS):
        status = json.loads(record.value)
        if "kind" in status:  # a position or an export, of no rule alone
            continue
        version = status["ruleId"], status["version"]
        shards = taken_by.setdefault(version, set())
        shards.add(status["shard"])
        if len(shards) == status["shards"]:
            applied.setdefault(version, record.at)
    return applied


def _applied(registry: Registry, others: Reader) -> list[tuple[float, float]]:
    """Per version published while payments flowed: when that was asked for, and ms to the last shard's status."""
    applied = _applied_at(others)
    # versions 1 and 2 were there before the payments
    live = {version: asked_at for version, asked_at in registry.asked_at.items() if version[1] > 2}
    missing = live.keys() - applied.keys()
    if missing:
        raise BenchFailed(f"rule versions that were never applied: {sorted(missing)}")
    return [(asked_at, (applied[version] - asked_at) * 1_000) for version, asked_at in live.items()]


def _first_reads(alerts: Reader) -> dict[str, tuple[float, dict[str, object]]]:
    """Alerts by id with the moment of the first read: the sink writes at least once."""
    newest: dict[str, tuple[float, dict[str, object]]] = {}
    for record in alerts.records(ALERTS):
        alert = json.loads(record.value)
        newest.setdefault(alert["alertId"], (record.at, alert))
    return newest
