"""A log line for each kernel that numba compiles during a micro-batch, which waits for it, seconds at worst.

The warm-up compiles every kernel that a micro-batch may need. A late compilation is a defect of the warm-up, or of a
caller whose arrays have another type each time. Transactions are judged the same.
"""

from __future__ import annotations

import time
from typing import Any, Final

import structlog
from numba.core import event

LATE_COMPILATION: Final = "kernel_compiled_late"
"""The log event."""
_log = structlog.get_logger(__name__)


def report_late_compilation() -> None:
    """From now on, in this process and those forked from it."""
    event.register("numba:compile", _CompilationListener())  # type: ignore[no-untyped-call]


class _CompilationListener(event.Listener):
    """Reports outermost compilations: a kernel's callees are compiled within its own."""

    def __init__(self) -> None:
        self._started: list[float] = []

    def on_start(self, _: Any) -> None:
        self._started.append(time.monotonic())

    def on_end(self, compilation: Any) -> None:
        seconds = time.monotonic() - self._started.pop()
        if self._started:
            return
        function = compilation.data["dispatcher"].py_func
        _log.warning(
            LATE_COMPILATION,
            kernel=f"{function.__module__}.{function.__name__}",
            arguments=str(compilation.data["args"]),
            milliseconds=round(1000 * seconds),
        )
