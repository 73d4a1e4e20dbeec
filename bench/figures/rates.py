"""How fast something went, from how far it was when. Imports nothing, so that a peer's environment can use it."""

from __future__ import annotations

from collections.abc import Sequence


def rate_of(progress: Sequence[tuple[float, int]], without: int = 4) -> float:
    """Payments a second from (seconds, payments taken), without the first of so many parts; 0: with all."""
    least = progress[-1][1] // without if without else 0
    timed_from = next(point for point in progress if point[1] >= least)
    return (progress[-1][1] - timed_from[1]) / (progress[-1][0] - timed_from[0])
