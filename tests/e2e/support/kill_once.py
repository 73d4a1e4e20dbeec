"""A task of a backtest on Spark that dies once, as a machine that is gone would have it."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class KillOnce:
    """SIGKILL to the worker of the first task that comes so far in that stage."""

    marker: Path
    stage: str

    def __call__(self, stage: str, _number: int) -> None:
        if stage == self.stage and not self.marker.exists():
            self.marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class KillInEach:
    """The same in each of several stages; `markers` by stage."""

    markers: dict[str, Path]

    def __call__(self, stage: str, number: int) -> None:
        if stage in self.markers:
            KillOnce(self.markers[stage], stage)(stage, number)
