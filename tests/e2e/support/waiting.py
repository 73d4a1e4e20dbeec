"""Waiting for a condition, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable

SHORTEST, LONGEST = 0.03, 0.3
"""Seconds between two looks: each takes some of the machine from what is waited for."""
PART = 0.05
"""Of what has been waited already: by so much at most a wait is longer than it had to be."""


def eventually(holds: Callable[[], object], what: str, seconds: float = 120.0) -> None:
    """Returns as soon as `holds`; fails with `what` when it does not in time."""
    begin = time.monotonic()
    while not holds():
        waited = time.monotonic() - begin
        assert waited < seconds, f"not within {seconds:g} s: {what}"
        time.sleep(min(LONGEST, max(SHORTEST, PART * waited)))
