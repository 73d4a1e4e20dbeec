"""A clean stop: SIGTERM and SIGINT set an event that loops look at."""

from __future__ import annotations

import signal
import threading


def stop_on_signals() -> threading.Event:
    """The event; call it in the main thread, before the loop begins."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop.set())
    return stop
