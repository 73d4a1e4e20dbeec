"""Token buckets by name: so much at once, and one more after each while."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable


class TokenBuckets:
    """A full bucket for each name that is not known; the one that was used longest ago is forgotten first."""

    def __init__(
        self,
        capacity: float,
        refill_seconds: float,
        names: int,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        """One more token after each `refill_seconds`; `names` are remembered at the most; `steady` gives seconds."""
        self._capacity, self._refill_seconds, self._names, self._steady = (
            capacity,
            refill_seconds,
            names,
            steady,
        )
        self._lock = threading.Lock()
        # The tokens of a name, and when it had them.
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, name: str) -> float:
        """Takes a token: 0 where there was one, else seconds until there is."""
        now = self._steady()
        with self._lock:
            tokens, since = self._buckets.pop(name, (self._capacity, now))
            tokens = min(self._capacity, tokens + (now - since) / self._refill_seconds)
            allowed = tokens >= 1
            self._buckets[name] = (tokens - 1 if allowed else tokens, now)
            if len(self._buckets) > self._names:
                self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) * self._refill_seconds
