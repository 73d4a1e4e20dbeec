"""What a call costs by itself, one after the other: processor time of the API and of its database, and pages read.

At a rate everything waits for everything, and a busy machine makes all of it longer. Processor time and pages are the
same on a busy machine, and say which of processor and disk a call would wait for.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import psutil
import psycopg

from bench.stored_alerts.calls import Call

_WARM_UP: Final = 8
_BACKENDS = """
SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name = 'tripline-alert-api'
"""
_PAGES = """
SELECT sum(blks_hit + blks_read), sum(blks_read) FROM pg_stat_database WHERE datname = current_database()
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one call, in the middle of several: ms, and pages of 8 KiB."""

    wall_ms: float
    slowest_ms: float
    api_ms: float
    database_ms: float
    pages: float
    read: float
    kilobytes: float


class Meter:
    """Looks at the API's process and at its connections' servers; `owner` is the superuser's DSN."""

    def __init__(self, owner: str, port: int) -> None:
        self._connection = psycopg.connect(owner, autocommit=True)
        self._api = _listening(port)

    def close(self) -> None:
        self._connection.close()

    def cost(self, call: Call, times: int) -> Cost:
        """Of `times` calls, after some that nobody counts: statements are planned in the first ones."""
        for _ in range(_WARM_UP):
            call().raise_for_status()
        _told(call)
        before = self._state()
        took, size = [], 0
        for _ in range(times):
            begin = time.perf_counter()
            answer = call()
            took.append((time.perf_counter() - begin) * 1000)
            answer.raise_for_status()
            size += len(answer.content)
        _told(call)
        after = self._state()
        # One more: the call that tells.
        api, database, pages, read = (
            (then - now) / (times + 1) for now, then in zip(before, after, strict=True)
        )
        return Cost(
            float(np.median(took)), max(took), api * 1000, database * 1000, pages, read, size / times / 1024
        )

    def _state(self) -> tuple[float, float, float, float]:
        [(touched, read)] = self._connection.execute(_PAGES).fetchall()
        return self._seconds(self._api), sum(self._servers()), float(touched), float(read)

    def _servers(self) -> Iterator[float]:
        for (pid,) in self._connection.execute(_BACKENDS).fetchall():
            yield self._seconds(psutil.Process(pid))

    def _seconds(self, process: psutil.Process) -> float:
        times: Any = process.cpu_times()
        return float(times.user + times.system)


def _told(call: Call) -> None:
    """A server says once a second, when it has answered, which pages it has read."""
    time.sleep(1.1)
    call().raise_for_status()


def _listening(port: int) -> psutil.Process:
    [pid] = {
        one.pid
        for one in psutil.net_connections("tcp")
        if one.status == psutil.CONN_LISTEN and one.laddr[1:] == (port,)
    }
    return psutil.Process(pid)
