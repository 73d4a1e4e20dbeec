"""`host:port` settings."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from tripline_http.errors import ConfigurationError


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


def is_loopback(host: str) -> bool:
    """True for a name or an address of this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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
