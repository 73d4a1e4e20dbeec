"""Precision of a rule's windows: `exact`, or `bucketed(b)` with buckets of *b* whole seconds (decision 0038).

      b │     b     │     b     │     b     │
────────┼──x────────┼───────────┼────x──────┼──▶ event time
           │ t − w                   │ t
        ├──┴─────────────────────────┤ the window of `bucketed(b)` begins where the bucket of t − w does
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from tripline_contracts import spelling

EXACT: Final = "exact"
MAX_BUCKETS: Final = 10_000
"""Of the bucket's length in the widest window of a rule."""

_BUCKETED: Final = re.compile(r"BUCKETED\s*\((.*)\)", re.DOTALL)
_EXPECTED: Final = "expected exact, or bucketed(b) with a bucket of b whole seconds"


def read(value: object) -> tuple[int | None, str | None]:
    """The bucket in seconds, None for an exact rule or where nothing is said; and what is wrong with the value."""
    keyword = spelling.keyword(value) or ""
    if value is None or keyword == EXACT.upper():
        return None, None
    match = _BUCKETED.fullmatch(keyword)
    seconds = None if match is None else spelling.whole_number(match[1])
    if not seconds:
        return None, f"{_EXPECTED}; not {spelling.shown(value)}"
    return seconds, None


def misfit(bucket_seconds: int, windows_seconds: Collection[int]) -> str | None:
    """Why these windows can't have such buckets; None where they can.

    A bucket is no longer than any of the windows, and no window is longer than MAX_BUCKETS of them.
    """
    widest, narrowest = max(windows_seconds), min(windows_seconds)
    least = -(-widest // MAX_BUCKETS)
    if least <= bucket_seconds <= narrowest:
        return None
    if least > narrowest:
        return f"expected no window of more than {MAX_BUCKETS} times the shortest, which is {narrowest} s"
    bounds = f"no longer than a window, and at most {MAX_BUCKETS} of them in one"
    return (
        f"expected buckets of {least} to {narrowest} seconds: {bounds}; not {spelling.shown(bucket_seconds)}"
    )


def text(bucket_seconds: int | None) -> str:
    """The normalised form."""
    return EXACT if bucket_seconds is None else f"bucketed({bucket_seconds})"
