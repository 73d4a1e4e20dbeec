"""A token bucket for each address that sends wrong keys: guesses are answered with 429 after the first few."""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Callable

from tripline_http.keys.token_buckets import TokenBuckets

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
        self._buckets = TokenBuckets(float(FAILURES), REFILL_SECONDS, ADDRESSES, steady)

    def __len__(self) -> int:
        return len(self._buckets)

    def fail(self, address: str) -> int:
        """Takes one failure of this address: 0 where it was allowed, else seconds until the next one is."""
        seconds = self._buckets.take(_network_of(address))
        return max(1, math.ceil(seconds)) if seconds else 0


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
