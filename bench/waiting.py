"""Waiting for what an engine does, as long as it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from bench.engine import Place, Running
from bench.reading import ALERTS, ORDER, Reader
from bench.stack import BenchFailed

_DEADLINE_SECONDS: Final = 1_200
_QUIET_SECONDS: Final = 2.5


def until(running: Running, happened: Callable[[], bool], what: str) -> None:
    """Until it has happened. Raises BenchFailed if the engine ends, or if it takes too long."""
    deadline = time.monotonic() + _DEADLINE_SECONDS
    while not happened():
        running.check()
        if time.monotonic() > deadline:
            raise BenchFailed(f"{what}: not within {_DEADLINE_SECONDS} s\n{running.process.last_lines()}")
        time.sleep(0.02)


def until_committed(running: Running, place: Place) -> None:
    """Until the micro-batch is whole that is planned now: shards end it one after the other, seconds apart under a
    thousand rules, and the order record is the first one's."""
    last = place.planned()
    until(running, lambda: place.committed() >= last, f"micro-batch {last} is committed")


def until_quiet(running: Running, reader: Reader) -> None:
    """Until no micro-batch has come for a while: then its metrics say all. The reader is that of order and alerts."""
    seen, since = -1, time.monotonic()

    def quiet() -> bool:
        nonlocal seen, since
        count = reader.count(ORDER) + reader.count(ALERTS)
        if count != seen:
            seen, since = count, time.monotonic()
        return time.monotonic() - since > _QUIET_SECONDS

    until(running, quiet, "rest")
