"""Waiting for a condition, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable


def eventually(holds: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    """Returns as soon as `holds`; fails with `what` when it does not in time."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(0.03)
