"""The refusal to rebuild an engine that still judges: the order would be longer than what was replayed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from tripline_engine.archive.journal import Journal
from tripline_engine.errors import EngineRunning

_SECONDS: Final = 3.0
"""An engine records a micro-batch for each of its ticks, about one a second."""


def refuse_running(order: Journal, engine: str | None, wait: Callable[[float], None]) -> None:
    """Watch the recorded order for a while.

    :param engine: the engine that is to be rebuilt; None for the newest one, which would be the one that judges
    :param wait: returns after so many seconds
    :raises EngineRunning: if a micro-batch of that engine is recorded meanwhile
    """
    before = order.end(0)
    wait(_SECONDS)
    for run in order.runs(0, before):
        for record in run:
            recorded = _engine(record.value)
            if recorded is not None and engine in (None, recorded):
                raise EngineRunning(
                    f"engine {recorded} still runs: it has recorded a micro-batch just now. Stop it first (tripline"
                    " stop engine, or SIGTERM), then rebuild"
                )


def _engine(value: bytes | None) -> str | None:
    try:
        order: Any = msgspec.json.decode(value or b"")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    engine = order.get("engine") if isinstance(order, dict) else None
    return engine if isinstance(engine, str) else None
