"""IP addresses as numbers, and their one text (semantics 10); read by the C library, and written and compared here."""

from __future__ import annotations

import re
import socket

from tests.oracle.values.errors import Unreadable

_V4, _V6 = 32, 128


def read_address(text: str) -> tuple[int, int]:
    """How many bits it has, and its number; an IPv4 address in IPv6's clothes is one of IPv4."""
    for family, bits in ((socket.AF_INET, _V4), (socket.AF_INET6, _V6)):
        try:
            number = int.from_bytes(socket.inet_pton(family, text), "big")
        except (OSError, ValueError):
            continue
        return (_V4, number & 0xFFFF_FFFF) if bits == _V6 and number >> _V4 == 0xFFFF else (bits, number)
    raise Unreadable("no address")


def address_text(bits: int, number: int) -> str:
    """Four numbers, or eight groups of which the first longest run of two or more zeros is left out."""
    if bits == _V4:
        return ".".join(str(number >> shift & 0xFF) for shift in (24, 16, 8, 0))
    groups = [f"{number >> shift & 0xFFFF:x}" for shift in range(112, -1, -16)]
    whole = ":".join(groups)
    runs = [*re.finditer("(?<![0-9a-f])0(:0)+(?![0-9a-f])", whole)]
    if not runs:
        return whole
    longest = max(runs, key=lambda run: len(run[0]))
    return whole[: longest.start()].rstrip(":") + "::" + whole[longest.end() :].lstrip(":")


def read_network(text: str) -> tuple[int, str]:
    """How many bits its addresses have, and those that they share, as a text of 0 and 1."""
    address, slash, prefix = text.partition("/")
    bits, number = read_address(address)
    if slash and not re.fullmatch("0|[1-9][0-9]{0,2}", prefix):
        raise Unreadable("no prefix")
    length = int(prefix) if slash else bits
    if slash and bits == _V4 and ":" in address:
        length -= _V6 - _V4
    binary = f"{number:0{bits}b}"
    if not 0 <= length <= bits or "1" in binary[length:]:
        raise Unreadable("bits behind the prefix")
    return bits, binary[:length]


def network_text(bits: int, shared: str) -> str:
    """The network with its prefix."""
    return f"{address_text(bits, int(shared.ljust(bits, '0'), 2))}/{len(shared)}"


def is_within(address: str, networks: tuple[tuple[int, str], ...]) -> bool:
    """Whether the address begins, in bits, as one of the networks does."""
    bits, number = read_address(address)
    return any(bits == width and f"{number:0{bits}b}".startswith(shared) for width, shared in networks)
