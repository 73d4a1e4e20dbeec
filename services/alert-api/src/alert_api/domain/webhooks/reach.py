"""Where webhooks may go: hosts that the installation names, and addresses that are no inside of it."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

_TRANSLATED = IPv6Network("64:ff9b::/96")
"""NAT64: the last 32 bits are an IPv4 address."""


@dataclass(frozen=True, slots=True)
class Reach:
    """:ivar hosts: names that a webhook's address may have, in lower case; none: no webhooks
    :ivar private: private, loopback and link-local addresses may be connected to
    :ivar plain: http will do
    """

    hosts: frozenset[str] = frozenset()
    private: bool = False
    plain: bool = False

    def refuses_url(self, url: str) -> str | None:
        """What is expected instead, where nothing may be sent to this URL."""
        try:
            parts = urlsplit(url)
            host, _port = parts.hostname, parts.port
        except ValueError:
            return "expected a URL like https://host/path"
        schemes = ("https", "http") if self.plain else ("https",)
        if (
            parts.scheme not in schemes
            or not host
            or not url.isascii()
            or not url.isprintable()
            or " " in url
        ):
            return f"expected a URL like {schemes[0]}://host/path"
        if parts.username is not None or parts.password is not None or parts.fragment:
            return "expected a URL without user, password and fragment"
        if host not in self.hosts:
            return "expected a URL of a host that TRIPLINE_WEBHOOK_HOSTS names"
        return None

    def refuses_address(self, text: str) -> str | None:
        """Why nothing may be sent to this address of a host."""
        address = _meant(ip_address(text.partition("%")[0]))
        if address.is_multicast or address.is_unspecified:
            return f"{text} is no address of one host"
        if not self.private and not address.is_global:
            return f"{text} is private, loopback or link-local"
        return None


def only_host(url: str) -> str:
    """Where a URL leads to, without the rest, which may be all that it takes to be let in there."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/\N{HORIZONTAL ELLIPSIS}"


def _meant(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address stands for, where it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address
