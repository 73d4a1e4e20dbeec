"""Refusal of requests for another name than the service has.

A page may have its own name resolve to this service (DNS rebinding): to the browser all of it is one origin then, and
only `Host` gives it away.
"""

from __future__ import annotations

from typing import Final

import structlog
from flask import Flask, request

from tripline_http.bind_address import HOSTS, KnownHosts, has_ip_address
from tripline_http.errors import FieldError, ProblemError

_PROBED: Final = frozenset({"/livez", "/readyz", "/metrics"})
"""Asked by who was given an address and no name: a kubelet, a balancer, a scraper."""


def install_known_hosts(app: Flask, hosts: KnownHosts) -> None:
    """Answers 421 to a foreign `Host`, whatever the path, before key, route and body are looked at.

    Probes and metrics may also be asked by IP address or without a name: a browser has a page's name there.
    """

    def check() -> None:
        host = request.headers.get("Host")
        if request.path in _PROBED and (host is None or has_ip_address(host)):
            return
        if host is None or not hosts.include(host):
            structlog.contextvars.bind_contextvars(address=request.remote_addr or "unknown")
            detail = f"This service is not known by the name in Host; {HOSTS} lists those that it has."
            errors = [
                FieldError("header.Host", "expected a name of loopback, or one that the service was given")
            ]
            raise ProblemError(421, "unknown-host", detail, errors=errors)

    app.before_request(check)
