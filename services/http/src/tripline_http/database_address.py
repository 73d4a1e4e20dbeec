"""Addresses of databases: on this machine, or of a server that proves by its certificate who it is.

libpq's default, `sslmode=prefer`, speaks in clear text where the server, or somebody in between, offers nothing else;
`require` encrypts, and asks nobody who they are. Only `verify-ca` and `verify-full` look at the certificate.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Conninfo

from tripline_http.bind_address import is_loopback
from tripline_http.errors import ConfigurationError

ALLOW_UNVERIFIED: Final = "TRIPLINE_DATABASE_ALLOW_UNVERIFIED"
"""The operator's word that nobody listens or answers between here and the database."""

_VERIFIED: Final = frozenset({"verify-ca", "verify-full"})


def checked_dsn(variable: str, dsn: str, *, allow_unverified: bool) -> str:
    """The DSN, as it is. The environment's PGHOST, PGSSLMODE and so on count, as libpq counts them.

    Raises `ConfigurationError`, never with a password, for what libpq cannot read, and without `allow_unverified` for
    a server beyond this machine whose certificate is not verified.
    """
    try:
        given = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    except psycopg.Error as error:
        raise ConfigurationError(
            f"{variable} is no connection string of libpq, like postgresql://USER@HOST:5432/tripline."
        ) from error
    values = {**_of_environment(), **given}
    remote = [host for host in _hosts(values) if not _is_local(host)]
    # libpq takes the system's authorities with verify-full only
    mode = "verify-full" if values.get("sslrootcert") == "system" else values.get("sslmode", "prefer")
    if remote and mode not in _VERIFIED and not allow_unverified:
        raise ConfigurationError(
            f"{variable} names {', '.join(remote)}, beyond this machine, and sslmode={mode} does not verify that it is "
            f"that server: set sslmode=verify-full and sslrootcert, or {ALLOW_UNVERIFIED}=true where nobody else is on "
            "the network between."
        )
    return dsn


def _of_environment() -> dict[str, str]:
    return {
        option.keyword.decode(): option.val.decode()
        for option in Conninfo.get_defaults()
        if option.val is not None
    }


def _hosts(values: Mapping[str, str]) -> list[str]:
    """Where connections go, by address where that is given; an empty one is a socket of this machine."""
    hosts = values.get("hostaddr") or values.get("host", "")
    if not hosts and "service" in values:
        return [f"the service {values['service']}"]
    return hosts.split(",")


def _is_local(host: str) -> bool:
    return host == "" or host.startswith(("/", "@")) or is_loopback(host)
