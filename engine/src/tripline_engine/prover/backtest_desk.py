"""Backtests and estimates for the rules registry: one at a time, in processes of their own, kept until fetched.

The registry keeps the jobs, and asks for each by a key of its own. A prover that was started anew knows none of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final

from tripline_engine.prover.backtest_job import Asked, BacktestJob
from tripline_engine.prover.errors import Busy, NothingThere

_KEPT: Final = 4
"""Ended jobs that nobody has fetched."""


class BacktestDesk:
    """Safe to share between threads. `run` makes a job that is under way."""

    def __init__(self, run: Callable[[Asked], BacktestJob]) -> None:
        self._run, self._lock = run, threading.Lock()
        self._jobs: dict[str, BacktestJob] = {}

    def start(self, key: str, asked: Asked) -> dict[str, Any]:
        """Begins a job; one of that key that is there already is left as it is. Raises Busy."""
        with self._lock:
            if key not in self._jobs:
                if any(job.state() == "running" for job in self._jobs.values()):
                    raise Busy("another backtest is under way")
                while len(self._jobs) >= _KEPT:
                    self._jobs.pop(next(iter(self._jobs))).close()
                self._jobs[key] = self._run(asked)
        return self.status(key)

    def status(self, key: str) -> dict[str, Any]:
        """How it stands, with its result when it is done. Raises NothingThere."""
        job = self._job(key)
        state = job.state()
        status: dict[str, Any] = {"state": state, "progress": job.progress()}
        if state == "done":
            status["result"] = job.result()
        elif state == "failed":
            status["failure"] = job.failure()
        return status

    def alerts(self, key: str, after: int, limit: int) -> dict[str, Any]:
        """Kept alerts of a job that is done. Raises NothingThere."""
        job = self._job(key)
        return {"items": job.alerts(after, limit) if job.state() == "done" else []}

    def end(self, key: str) -> dict[str, Any]:
        """Ends a job, and forgets it; nothing happens where there is none."""
        with self._lock:
            job = self._jobs.pop(key, None)
        if job is not None:
            job.close()
        return {"ended": job is not None}

    def close(self) -> None:
        """Ends all."""
        with self._lock:
            for job in self._jobs.values():
                job.close()
            self._jobs.clear()

    def _job(self, key: str) -> BacktestJob:
        job = self._jobs.get(key)
        if job is None:
            raise NothingThere(f"there is no backtest {key}")
        return job
