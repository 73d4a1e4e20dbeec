"""`host:port` settings: where a server listens, and which names it is called by."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from tripline_http.errors import ConfigurationError

HOSTS: Final = "TRIPLINE_HTTP_HOSTS"
METRICS_BIND: Final = "TRIPLINE_HTTP_METRICS_BIND"
_NAME: Final = re.compile(r"[a-z0-9._-]+", re.ASCII)
_LEFT_OUT: Final = frozenset({80, 443})
"""Ports that a browser leaves out of `Host`: those of http and https."""


@dataclass(frozen=True, slots=True)
class Bind:
    """The address that a server listens on. Port 0 lets the system choose."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """True where only this machine can reach it."""
        return is_loopback(self.host)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class KnownHosts:
    """The names that callers may have in `Host`; those of loopback always, for no page has them from elsewhere.

    :ivar names: in lower case, each with the port that it goes with, or None for any
    """

    names: frozenset[tuple[str, int | None]]

    def include(self, host: str) -> bool:
        """True for a `Host` header with one of the names."""
        authority = _authority_of(host)
        if authority is None:
            return False
        name, port = authority
        ports = {None, port} if port is not None else {None, *_LEFT_OUT}
        return is_loopback(name) or any((name, known) in self.names for known in ports)


LOOPBACK: Final = KnownHosts(frozenset())
"""No names but those of loopback."""


def is_loopback(host: str) -> bool:
    """True for a name or an address of this machine alone."""
    return host == "localhost" or (_is_ip_address(host) and ipaddress.ip_address(host).is_loopback)


def has_ip_address(host: str) -> bool:
    """True for a `Host` header with an IP address in place of a name."""
    authority = _authority_of(host)
    return authority is not None and _is_ip_address(authority[0])


def _is_ip_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _authority_of(host: str) -> tuple[str, int | None] | None:
    """Name in lower case and port of `name`, `name:port`, `[address]:port`; None for anything else."""
    try:
        parts = urlsplit(f"//{host}")
        name, port = parts.hostname, parts.port
    except ValueError:
        return None
    # Nothing but name and port: "a@b", "a/b" and "a?b" are no Host.
    return (name, port) if name and parts.netloc == host and "@" not in host else None


def parse_bind(variable: str, text: str) -> Bind:
    """Reads `127.0.0.1:8081` or `[::1]:8081`; raises `ConfigurationError` naming the variable."""
    host, separator, port = text.strip().rpartition(":")
    if not separator or not host or not (port.isascii() and port.isdigit()) or int(port) > 65_535:
        raise ConfigurationError(f"{variable} is {text!r}; expected host:port, like 127.0.0.1:8081.")
    return Bind(host.strip("[]"), int(port))


def parse_api_bind(text: str, *, allow_remote: bool) -> Bind:
    """Reads `TRIPLINE_HTTP_BIND` of a service that callers send API keys to, in clear text.

    `allow_remote` is the operator's word that a proxy with TLS stands in front. Raises `ConfigurationError` for an
    address beyond loopback without it.
    """
    bind = parse_bind("TRIPLINE_HTTP_BIND", text)
    if not bind.is_loopback and not allow_remote:
        raise ConfigurationError(
            f"TRIPLINE_HTTP_BIND is {bind}, which others can reach, and API keys would travel in clear text: use a "
            "loopback address, or set TRIPLINE_HTTP_ALLOW_REMOTE=true where a proxy with TLS is in front."
        )
    return bind


def parse_metrics_bind(api: Bind, text: str, usual: str) -> Bind | None:
    """Reads `TRIPLINE_HTTP_METRICS_BIND` of a service with an API: where its metrics are; None for the API's own port.

    Metrics tell everybody who asks what goes on, so where others reach the API they are not on its port: without the
    setting they are at `usual`, on loopback. Raises `ConfigurationError`.
    """
    if not text.strip():
        return None if api.is_loopback else parse_bind(METRICS_BIND, usual)
    return parse_bind(METRICS_BIND, text)


def parse_hosts(bind: Bind, text: str) -> KnownHosts:
    """Reads `TRIPLINE_HTTP_HOSTS` of a server on that address: names, or names with ports, between commas.

    Raises `ConfigurationError` for what is no name, and where others reach the server and it has none: it would
    answer to nobody but this machine, which shows at the first call and not at the start.
    """
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    names = set()
    for entry in entries:
        authority = _authority_of(entry)
        if authority is None or not (_NAME.fullmatch(authority[0]) or _is_ip_address(authority[0])):
            raise ConfigurationError(
                f"{HOSTS} has {entry!r}; expected names, or names with ports, separated by commas, like "
                "registry,rules.example:8443."
            )
        names.add(authority)
    if not names and not bind.is_loopback:
        raise ConfigurationError(
            f"{HOSTS} is not set, and others can reach {bind}: give the names that they call this service by, "
            "separated by commas, like registry,rules.example."
        )
    return KnownHosts(frozenset(names))
