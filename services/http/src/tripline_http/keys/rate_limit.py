"""How many requests a caller may make: so many a second on average, and a burst at once."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from tripline_http.errors import ConfigurationError, ProblemError
from tripline_http.keys.token_buckets import TokenBuckets

RATE: Final = "TRIPLINE_RATE_LIMIT"
BURST: Final = "TRIPLINE_RATE_BURST"
USUAL_RATE: Final = 500
CALLERS: Final = 4096
"""The most callers that are remembered."""
_MOST: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Requests a second and at once, of each caller; 0 a second is no limit."""

    per_second: int
    burst: int


class RateLimiter:
    """Counts the requests of each caller."""

    def __init__(self, limit: RateLimit, steady: Callable[[], float] = time.monotonic) -> None:
        """`steady` gives seconds; the limit's rate is above 0."""
        self._limit = limit
        self._buckets = TokenBuckets(float(limit.burst), 1 / limit.per_second, CALLERS, steady)

    def count(self, caller: str) -> None:
        """Raises the 429 problem where it is one too many."""
        seconds = self._buckets.take(caller)
        if seconds:
            raise ProblemError(
                429,
                "too-many-requests",
                f"More than {self._limit.per_second} requests a second came with this key.",
                headers={"Retry-After": str(max(1, math.ceil(seconds)))},
            )


def read_rate_limit(environment: Mapping[str, str]) -> RateLimit:
    """TRIPLINE_RATE_LIMIT and TRIPLINE_RATE_BURST, which is two seconds' worth where it is not set.

    Raises ConfigurationError.
    """
    per_second = _number(environment, RATE, USUAL_RATE, 0)
    return RateLimit(per_second, _number(environment, BURST, max(1, 2 * per_second), 1))


def _number(environment: Mapping[str, str], name: str, usual: int, least: int) -> int:
    text = environment.get(name, "").strip()
    if not text:
        return usual
    if not (text.isascii() and text.isdigit() and least <= int(text[:9]) <= _MOST and len(text) < 9):
        raise ConfigurationError(f"{name} is {text!r}; expected a whole number from {least} to {_MOST}.")
    return int(text)
