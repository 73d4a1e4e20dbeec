"""A kernel compiled after the warm-up is logged once, with its callees as part of it."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from numba import njit
from numba.core import event
from structlog.testing import capture_logs

from tripline_engine.spark.worker.jit_watch import report_late_compilation


@njit
def inner(values: Any) -> Any:
    return values[0]


@njit
def outer(values: Any) -> Any:
    return inner(values) + 1


def test_late_compilation_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event, "_registered", defaultdict(list))
    outer(np.zeros(1, np.int64))
    report_late_compilation()
    with capture_logs() as nothing:
        outer(np.zeros(2, np.int64))
    with capture_logs() as logs:
        outer(np.zeros(1, np.int32))
    assert nothing == []
    (event_line,) = logs
    assert event_line["log_level"] == "warning"
    assert event_line["kernel"] == f"{__name__}.outer"
    assert "int32" in event_line["arguments"]
    assert event_line["milliseconds"] > 0
