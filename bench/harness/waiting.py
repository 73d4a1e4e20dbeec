"""Waiting for what an engine does, as long as it runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from bench.harness.engine import Running, Workplace
from bench.harness.output_reader import ALERTS, ORDER, Reader
from bench.harness.stack import BenchFailed
from tripline_engine.spark.checkpoint.checkpoint import spark_folder
from tripline_engine.spark.checkpoint.spark_offsets import is_in_flight

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


def until_quiet(running: Running, workplace: Workplace, reader: Reader) -> None:
    """Until no micro-batch is under way or has come for a while: then its metrics say all.

    The reader is that of order and alerts. That nothing is told does not mean rest: shards end a micro-batch one after
    the other, seconds apart under a thousand rules, and the order record is the first one's.
    """
    silent = Silence(reader, lambda: is_in_flight(spark_folder(workplace.checkpoint)))
    until(running, silent, "rest")


class Silence:
    """Called again and again: whether neither an order record nor an alert has come for a while.

    :param interrupted: what breaks it besides
    """

    def __init__(self, reader: Reader, interrupted: Callable[[], bool] = lambda: False) -> None:
        self._reader, self._interrupted = reader, interrupted
        self._seen, self._since = -1, time.monotonic()

    def __call__(self) -> bool:
        count = self._reader.count(ORDER) + self._reader.count(ALERTS)
        if count != self._seen or self._interrupted():
            self._seen, self._since = count, time.monotonic()
        return time.monotonic() - self._since > _QUIET_SECONDS
