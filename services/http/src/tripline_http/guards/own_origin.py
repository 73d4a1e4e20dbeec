"""Refusal of requests that a web page of somebody else made a browser send.

A page sends a request across origins, and the browser says so in `Sec-Fetch-Site` or `Origin`, also where no preflight
asks first (a form, a POST without a body). The other way, by a name of its own, is for `known_hosts`.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Flask, request

from tripline_http.errors import FieldError, ProblemError

# What a browser says of a request that this origin's page made, or its user by hand.
_OWN_SITES = frozenset({"same-origin", "none"})


def install_own_origin(app: Flask) -> None:
    """Answers 403 to a foreign origin, whatever the address. Trust `Host` first: it says which origin is the own."""
    app.before_request(_check_origin)


def check_own_page() -> None:
    """Raises the 403 problem where a page of another origin made the browser send this request.

    What the browser itself calls its own needs no `Host` that equals `Origin`: behind a proxy it may be another name.
    """
    if request.headers.get("Sec-Fetch-Site") != "same-origin":
        _check_origin()


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


def _authority_of(origin: str) -> str | None:
    """Host and port of an origin, in lower case; None for `null` and for what is no origin."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") and parts.netloc else None
