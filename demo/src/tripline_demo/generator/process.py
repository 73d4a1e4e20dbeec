"""The generator as a process: everything wired once, in the server's worker."""

from __future__ import annotations

import secrets
import threading
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from flask import Flask

from tripline_demo.generator.api.application import new_generator_app
from tripline_demo.generator.api.context import Context
from tripline_demo.generator.errors import GeneratorError
from tripline_demo.generator.metrics import TrafficCollector
from tripline_demo.generator.output.kafka_outlet import KafkaDesk, KafkaOutlet
from tripline_demo.generator.output.record_renderer import Renderer
from tripline_demo.generator.output.sender import Clocks, Sender
from tripline_demo.generator.plays import Plays
from tripline_demo.generator.recordings.kafka_engine import KafkaEngine
from tripline_demo.generator.recordings.replays import Replays
from tripline_demo.generator.settings import Settings
from tripline_demo.generator.trade import Trade
from tripline_demo.generator.trades import trade_of
from tripline_http.application import Access
from tripline_http.auth import install_tokens
from tripline_http.keys.key_file import ApiKey
from tripline_http.metrics import new_metrics_registry
from tripline_http.metrics_server import MetricsServer, metrics_beside

_FLUSH_SECONDS = 5.0


def wall_ms() -> int:
    """Now, in ms since the epoch."""
    return time.time_ns() // 1_000_000


def new_id() -> str:
    """An id that nobody has seen yet."""
    return str(uuid.uuid4())


def new_renderer(trade: Trade) -> Renderer:
    """For a stream whose transaction ids nobody has seen yet."""
    return Renderer(uuid.uuid4().hex[:12], trade)


@dataclass(frozen=True, slots=True)
class Running:
    """A generator that sends; `stop` ends it and waits for what is under way."""

    app: Flask
    sender: Sender
    replays: Replays
    plays: Plays
    outlet: KafkaOutlet
    desk: KafkaDesk
    thread: threading.Thread
    beside: MetricsServer | None

    def stop(self) -> None:
        """Within some ten seconds."""
        self.sender.stop()
        self.replays.stop_all()
        self.plays.stop_all()
        self.thread.join(_FLUSH_SECONDS)
        self.outlet.flush(_FLUSH_SECONDS)
        self.desk.flush(_FLUSH_SECONDS)
        if self.beside is not None:
            self.beside.stop()


def start(settings: Settings, keys: Iterable[ApiKey]) -> Running:
    """Begins to send; the app is to be served, to the holders of these keys."""
    kafka = settings.kafka
    trade = trade_of(settings.event_type)
    outlet, desk = KafkaOutlet(kafka), KafkaDesk(kafka)
    clocks = Clocks(time.monotonic, wall_ms)
    renderer = partial(new_renderer, trade)
    sender = Sender(trade, settings.traffic, outlet, clocks, renderer)
    replays = Replays(
        settings.event_type,
        lambda: KafkaOutlet(kafka),
        wall_ms,
        partial(KafkaEngine, kafka, settings.event_type),
    )
    plays = Plays(trade, secrets.randbits(53), lambda: KafkaOutlet(kafka), clocks, renderer, new_id)
    thread = threading.Thread(target=sender.run, name="sender", daemon=True)
    registry = new_metrics_registry()
    registry.register(TrafficCollector(sender))
    context = Context(trade, sender, desk, replays, plays, wall_ms, new_id)
    checks = {"kafka": outlet.check, "sender": lambda: _alive(thread), "deliveries": sender.check}
    access = Access(keys, settings.hosts, metrics=settings.api_metrics_bind is None)
    app = new_generator_app(context, access, registry, checks)
    install_tokens(app, settings.issuer, registry)
    beside = metrics_beside(settings.api_metrics_bind, registry)
    thread.start()
    return Running(app, sender, replays, plays, outlet, desk, thread, beside)


def _alive(thread: threading.Thread) -> None:
    if not thread.is_alive():
        raise GeneratorError("the sender has ended; the log says why")
