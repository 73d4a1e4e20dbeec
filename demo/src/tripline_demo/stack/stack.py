"""The stack as a whole: up, down, how it is."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from tripline_contracts.event_type import DEFAULT, EventType
from tripline_demo import paths
from tripline_demo.embedded import jars
from tripline_demo.embedded.java import find_java
from tripline_demo.errors import StackFailed
from tripline_demo.generator.trades import trade_of
from tripline_demo.generator.traffic import no_traffic
from tripline_demo.processes import ports, reservations
from tripline_demo.processes.file_lock import file_lock
from tripline_demo.stack import (
    configuration,
    credentials,
    event_type_pin,
    orphans,
    shutdown,
    stack_file,
    startup,
    supervisor,
)
from tripline_demo.stack.places import Places
from tripline_demo.stack.plan import PORTS, Plan
from tripline_demo.stack.progress import Progress
from tripline_demo.stack.seeder import seed_rules, start_traffic, wait_for_alert
from tripline_demo.stack.supervisor import State, Supervisor

FIRST_ALERT_SECONDS = 90
TRAFFIC_RATE = 200
"""Transactions a second of the demo: a laptop does not notice it."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a start. `clock` is the engine's: "data" for old data; `event_type` is a name or a path."""

    traffic: bool = True
    fresh: bool = False
    clock: Literal["wall", "data"] = "wall"
    event_type: str = DEFAULT


@dataclass(frozen=True, slots=True)
class Up:
    """A stack that runs. `first_alert_seconds` is counted from the beginning; None: no traffic, or none came."""

    stack: dict[str, Any]
    first_alert_seconds: float | None
    was_running: bool


def up(places: Places, options: Options, progress: Progress) -> Up:
    """Starts everything that does not run yet. Raises DemoError; what had been started is stopped then."""
    declared = event_type_pin.declared_by(options.event_type)
    with _alone(places):
        if not options.fresh:
            event_type_pin.check(places, declared)
        running = stack_file.read(places) if Supervisor(places.socket).is_up() else None
        if running is not None and not options.fresh:
            return Up(running, None, was_running=True)
        shutdown.stop(places, progress)
        if options.fresh:
            shutdown.forget(places)
        try:
            return _start(places, options, declared, progress)
        except BaseException:  # Ctrl-C too: half a stack is of no use to anybody
            progress.note("stopping what had been started")
            shutdown.stop(places, progress)
            raise


def _start(places: Places, options: Options, declared: EventType, progress: Progress) -> Up:
    since_ms = int(time.time() * 1000)
    plan = make_plan(places, options, progress)
    event_type_pin.hold(places, plan.event_type, declared)
    flows = options.traffic and _has_traffic(declared, progress)
    programs = plan.programs()
    text = configuration.render(places, programs)
    places.supervisor_configuration.touch(mode=0o600)
    places.supervisor_configuration.write_text(text, encoding="utf-8")
    start = startup.Start(supervisor.launch(places), programs, places, progress)
    start.advance(with_the_last=False)
    stack = stack_file.content(plan)
    if flows:  # Kafka keeps what is sent before the engine is up
        with progress.step("seeded rules and traffic"):
            seed_rules(stack, declared)
            start_traffic(stack, TRAFFIC_RATE)
    start.advance(with_the_last=True)
    stack_file.write(places, stack)
    return Up(stack, _first_alert(stack, since_ms, progress) if flows else None, was_running=False)


def _has_traffic(declared: EventType, progress: Progress) -> bool:
    trade = trade_of(declared)
    if not trade.has_traffic:
        progress.note(f"{no_traffic(trade)}")
    return trade.has_traffic


def make_plan(places: Places, options: Options, progress: Progress) -> Plan:
    """Decides everything, and makes what has to be there before the first start: Java, jars, storage."""
    places.make()
    java = find_java(os.environ, places.var / "java")
    progress.note(f"Java {java.version} ({java.origin})")
    with progress.step("jars"):
        classpath = jars.ensure(paths.project_root(), places.var, java, progress.now)
    chosen = reservations.choose(PORTS, ports.load(places.run / "ports.json"), places.var)
    ports.save(places.run / "ports.json", chosen)
    setting = event_type_pin.setting_of(options.event_type)
    plan = Plan(places, chosen, credentials.load_or_make(places), java, classpath, options.clock, setting)
    with progress.step("storage of PostgreSQL and Kafka"), ThreadPoolExecutor(2) as pool:
        for prepared in (pool.submit(plan.cluster.prepare), pool.submit(plan.broker.prepare)):
            prepared.result()
    return plan


def _first_alert(stack: dict[str, Any], since_ms: int, progress: Progress) -> float | None:
    with progress.waiting("waiting for the first alert …"):
        alert = wait_for_alert(stack, since_ms, FIRST_ALERT_SECONDS)
    if alert is None:
        progress.note(f"no alert within {FIRST_ALERT_SECONDS} s of traffic; the engine's log may say why")
        return None
    seconds = progress.seconds()
    progress.done(f"first alert: {alert['ruleName']}", seconds)
    return seconds


def down(places: Places, progress: Progress) -> bool:
    """Stops everything; False when nothing ran."""
    with _alone(places):
        return shutdown.stop(places, progress)


def states(places: Places) -> list[State]:
    """The programs as the supervisor sees them; empty when it does not run."""
    supervisor = Supervisor(places.socket)
    return supervisor.states() if supervisor.is_up() else []


def abandoned(places: Places) -> int:
    """The number of processes that run though their supervisor does not."""
    return 0 if Supervisor(places.socket).is_up() else len(orphans.find(places))


@contextmanager
def _alone(places: Places) -> Iterator[None]:
    try:
        with file_lock(places.var / "stack.lock", wait=False):
            yield
    except BlockingIOError as busy:
        raise StackFailed(
            "Another `tripline` command is at work on this stack; try again when it is done."
        ) from busy
