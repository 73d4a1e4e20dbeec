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
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_bind(variable: str, text: str) -> Bind:
    """Reads `127.0.0.1:8081` or `[::1]:8081`; raises `ConfigurationError` naming the variable."""
    host, separator, port = text.strip().rpartition(":")
    if not separator or not host or not (port.isascii() and port.isdigit()) or int(port) > 65_535:
        raise ConfigurationError(f"{variable} is {text!r}; expected host:port, like 127.0.0.1:8081.")
    return Bind(host.strip("[]"), int(port))
