"""IP addresses and networks, each in one normal form.

IPv4 is four decimal numbers; IPv6 is written as RFC 5952 has it: small letters, no leading zeros, the longest run of
zeros as `::`. An IPv4 address that was mapped into IPv6 (`::ffff:10.0.0.1`, as sockets for both show it) is the IPv4
address: one machine is one group. Zones (`fe80::1%eth0`) mean something on one machine alone, and are refused.
"""

from __future__ import annotations

import ipaddress
from typing import Final, TypeAlias

LONGEST_ADDRESS: Final = 45
"""Characters: eight groups of IPv6, the last two as an IPv4 address."""
LONGEST_NETWORK: Final = LONGEST_ADDRESS + 4
EXPECTED_ADDRESS: Final = "an IPv4 or IPv6 address"
EXPECTED_NETWORK: Final = "a network, like 10.0.0.0/8 or 2001:db8::/32, or an address"

Range: TypeAlias = tuple[int, int, int]
"""Version (4 or 6), first and last address as numbers."""

_MAPPED_BITS: Final = 96
_Network: TypeAlias = "ipaddress.IPv4Network | ipaddress.IPv6Network"


def normal_address(text: str) -> str | None:
    """The address in its normal form; None for what is none."""
    if len(text) > LONGEST_ADDRESS or "%" in text:
        return None
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def normal_network(text: str) -> str | None:
    """The network with its prefix, in normal form; None for what is none, or has bits behind its prefix."""
    if len(text) > LONGEST_NETWORK or "%" in text:
        return None
    try:
        network = ipaddress.ip_network(text)
    except ValueError:
        return None
    return str(_unmapped(network))


def _unmapped(network: _Network) -> _Network:
    if isinstance(network, ipaddress.IPv6Network) and network.prefixlen >= _MAPPED_BITS:
        mapped = network.network_address.ipv4_mapped
        if mapped is not None:
            return ipaddress.IPv4Network((mapped, network.prefixlen - _MAPPED_BITS))
    return network


def network_range(network: str) -> Range:
    """The addresses of a network in normal form."""
    read = ipaddress.ip_network(network)
    return read.version, int(read.network_address), int(read.broadcast_address)


def address_number(address: str) -> tuple[int, int]:
    """Version and number of an address in normal form."""
    read = ipaddress.ip_address(address)
    return read.version, int(read)
