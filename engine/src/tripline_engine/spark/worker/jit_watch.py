"""Tells of kernels that are compiled in the middle of a micro-batch, which waits for them, seconds at worst.

A warm-up compiles all that any micro-batch needs: what is told here is a fault of the warm-up, or of a caller whose
arrays are of another kind each time. The log is where it shows; transactions are judged the same.
"""

from __future__ import annotations

import time
from typing import Any, Final

import structlog
from numba.core import event

TOLD: Final = "kernel_compiled_late"
_log = structlog.get_logger(__name__)


def report_late_compilation() -> None:
    """From now on, in this process and those forked from it."""
    event.register("numba:compile", _Teller())  # type: ignore[no-untyped-call]


class _Teller(event.Listener):
    """Tells of what is compiled by itself: a kernel that it calls is compiled meanwhile, and part of it."""

    def __init__(self) -> None:
        self._open: list[float] = []

    def on_start(self, _: Any) -> None:
        self._open.append(time.monotonic())

    def on_end(self, found: Any) -> None:
        took = time.monotonic() - self._open.pop()
        if self._open:
            return
        function = found.data["dispatcher"].py_func
        _log.warning(
            TOLD,
            kernel=f"{function.__module__}.{function.__name__}",
            arguments=str(found.data["args"]),
            milliseconds=round(1000 * took),
        )
