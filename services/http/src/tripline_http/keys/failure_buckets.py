"""A token bucket for each address that sends wrong keys: guesses are answered with 429 after the first few."""

from __future__ import annotations

import ipaddress
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

FAILURES = 10
"""Failures that an address may have at once."""
REFILL_SECONDS = 6.0
"""One more is allowed after each of these: ten a minute."""
ADDRESSES = 4096
"""The most addresses that are remembered; the one that failed longest ago is forgotten first."""


class FailureBuckets:
    """Counts failures by address; a network of 64 bits counts as one address of IPv6."""

    def __init__(self, steady: Callable[[], float] = time.monotonic) -> None:
        """`steady` gives seconds."""
        self._steady = steady
        self._lock = threading.Lock()
        # The tokens of an address, and when it had them.
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def fail(self, address: str) -> int:
        """Takes one failure of this address: 0 where it was allowed, else seconds until the next one is."""
        name, now = _network_of(address), self._steady()
        with self._lock:
            tokens, since = self._buckets.pop(name, (float(FAILURES), now))
            tokens = min(float(FAILURES), tokens + (now - since) / REFILL_SECONDS)
            allowed = tokens >= 1
            self._buckets[name] = (tokens - 1 if allowed else tokens, now)
            if len(self._buckets) > ADDRESSES:
                self._buckets.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((1 - tokens) * REFILL_SECONDS))


def _network_of(address: str) -> str:
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    # Whoever has one address of IPv6 has 2^64 of them.
    return str(ipaddress.ip_network((ip, 64), strict=False))
