"""How far a backtest is, in a file for whoever waits for it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tripline_engine.errors import EngineError

_SECONDS: Final = 0.5


class Abandoned(EngineError):
    """Nobody waits for this backtest any more."""


@dataclass(slots=True)
class ProgressFile:
    """Written anew twice a second, in one step each time. `elapsed` gives seconds of a monotonic clock.

    :ivar parent: the process that waits
    """

    file: Path
    elapsed: Callable[[], float]
    parent: int
    _written: float | None = None

    def tell(self, done: int, of: int, transactions: int, alerts: int) -> None:
        """Work done, of how much; transactions judged and alerts so far. Raises Abandoned when the process that waits
        has ended."""
        now = self.elapsed()
        if self._written is not None and now - self._written < _SECONDS:
            return
        self._written = now
        if os.getppid() != self.parent:
            raise Abandoned("whoever asked for this backtest has ended")
        share = min(done / of, 0.999) if of else 0.0
        text = json.dumps({"share": round(share, 4), "transactions": transactions, "alerts": alerts})
        new = self.file.with_suffix(".new")
        new.write_text(text, "utf-8")
        new.replace(self.file)
