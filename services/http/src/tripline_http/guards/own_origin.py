"""Refusal of requests that a web page of somebody else made a browser send.

Two ways lead a page to a service on the reader's machine. It sends a request across origins: the browser then says so
in `Sec-Fetch-Site` or `Origin`, also where no preflight asks first (a form, a POST without a body). Or it has its own
name resolve to this machine (DNS rebinding): then all is one origin to the browser, and only `Host` gives it away.
"""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from flask import Flask, request

from tripline_http.bind_address import is_loopback
from tripline_http.errors import FieldError, ProblemError

# What a browser says of a request that this origin's page made, or its user by hand.
_OWN_SITES = frozenset({"same-origin", "none"})


def install_own_origin(app: Flask, hosts: Collection[str] = ()) -> None:
    """Answers 421 to a foreign `Host` and 403 to a foreign origin, whatever the address.

    `hosts` are names without ports that this service is reached by, besides those of loopback.
    """
    known = frozenset(host.lower() for host in hosts)

    def check() -> None:
        _check_host(known)
        _check_origin()

    app.before_request(check)


def _check_host(known: Collection[str]) -> None:
    name = _name_in(request.headers.get("Host", ""))
    if name is None or not (name in known or is_loopback(name)):
        detail = "This service is not known under the name in Host."
        errors = [FieldError("header.Host", "expected a name of loopback, or one that the service was given")]
        raise ProblemError(421, "unknown-host", detail, errors=errors)


def _check_origin() -> None:
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None and site not in _OWN_SITES:
        raise _foreign("Sec-Fetch-Site", "expected same-origin or none")
    origin = request.headers.get("Origin")
    if origin is not None and _authority_of(origin) != request.headers.get("Host", "").lower():
        raise _foreign("Origin", "expected this service's own origin")


def _foreign(header: str, expected: str) -> ProblemError:
    detail = "This service obeys no page of another origin."
    return ProblemError(403, "foreign-origin", detail, errors=[FieldError(f"header.{header}", expected)])


def _name_in(host: str) -> str | None:
    """The name in a `Host` header, in lower case; None where there is none."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port  # raises where it is no number
    except ValueError:
        return None
    # Nothing but name and port: "a@b", "a/b" and "a?b" are no Host.
    return parts.hostname if parts.netloc == host and "@" not in host else None


def _authority_of(origin: str) -> str | None:
    """Host and port of an origin, in lower case; None for `null` and for what is no origin."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") and parts.netloc else None
