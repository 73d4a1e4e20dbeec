"""gunicorn, started from Python: one worker process with threads.

One worker, because metrics and pools are the process's; more throughput is more processes behind a balancer.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

from flask import Flask
from gunicorn.app.base import BaseApplication
from gunicorn.glogging import Logger

from tripline_http.bind_address import Bind


class _RootLogger(Logger):  # type: ignore[misc]
    """Hands gunicorn's lines to the root logger, so that they are JSON too."""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for logger in (self.error_log, self.access_log):
            logger.handlers[:] = []
            logger.propagate = True
        self.access_log.setLevel(logging.CRITICAL)


class _Server(BaseApplication):  # type: ignore[misc]
    def __init__(self, load: Callable[[], Flask], options: dict[str, Any]) -> None:
        self._load = load
        self._options = options
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._options.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        return self._load()


def serve(
    load: Callable[[], Flask],
    bind: Bind,
    *,
    threads: int = 16,
    on_stop: Callable[[], None] | None = None,
    on_stopping: Callable[[], None] | None = None,
) -> None:
    """Serves until SIGTERM or SIGINT, which lets running requests end (10 s).

    `load` is called in the worker process, after the fork: connections and threads made there are its own.
    `on_stop` is called there when it ends, `on_stopping` as soon as it is asked to: answers without an end of their own
    should end then.
    """

    def announce(_worker: Any) -> None:
        if on_stopping is not None:
            _call_first(signal.SIGTERM, on_stopping)

    def stop(_server: Any, _worker: Any) -> None:
        if on_stop is not None:
            on_stop()

    options = {
        "bind": str(bind),
        "worker_class": "gthread",
        "workers": 1,
        "threads": threads,
        "graceful_timeout": 10,
        "timeout": 60,
        "keepalive": 15,
        # The most that gunicorn takes: filters and cursors together may be longer than its usual 4094.
        "limit_request_line": 8190,
        "logger_class": _RootLogger,
        "post_worker_init": announce,
        "worker_exit": stop,
        "control_socket_disable": True,
        "proc_name": "tripline",
    }
    _Server(load, options).run()


def _call_first(number: signal.Signals, act: Callable[[], None]) -> None:
    """Lets `act` go before what gunicorn does at this signal."""
    then = signal.getsignal(number)

    def handle(received: int, frame: FrameType | None) -> None:
        act()
        if callable(then):
            then(received, frame)

    signal.signal(number, handle)
