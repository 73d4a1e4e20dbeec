"""Follows the alert API's stream as a console does, and notes when each alert was told."""

from __future__ import annotations

import json
import threading
import time
from types import TracebackType
from typing import Final, Self

import httpx

from bench.harness.stack import BenchFailed

_RAISED: Final = "event: AlertRaised"
_DATA: Final = "data: "
_OPEN_SECONDS: Final = 10.0


class Following:
    """One open stream on a thread.

    :ivar told_at: by alert id, when it was first told, in seconds of the monotonic clock
    """

    def __init__(self, alert_api: str, key: str) -> None:
        self._url, self._headers = f"{alert_api}/v1/alerts/stream", {"Authorization": f"Bearer {key}"}
        self._open, self._stop = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="following", daemon=True)
        self.told_at: dict[str, float] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._open.wait(_OPEN_SECONDS):
            raise BenchFailed(f"{self._url} did not open")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(2 * _OPEN_SECONDS)  # it says something every ten seconds

    def _run(self) -> None:
        with httpx.stream("GET", self._url, headers=self._headers, timeout=60, trust_env=False) as answer:
            raised = False
            for line in answer.iter_lines():
                self._open.set()
                if raised and line.startswith(_DATA):
                    self.told_at.setdefault(json.loads(line.removeprefix(_DATA))["alertId"], time.monotonic())
                raised = line == _RAISED
                if self._stop.is_set():
                    return
