"""A Flask app with everything of this package on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from flask import Flask
from prometheus_client import CollectorRegistry

from tripline_http.auth import install_api_keys
from tripline_http.bind_address import LOOPBACK, KnownHosts
from tripline_http.error_handlers import install_error_handlers
from tripline_http.guards.answer_headers import install_answer_headers
from tripline_http.guards.known_hosts import install_known_hosts
from tripline_http.guards.query_parameters import install_query_parameters
from tripline_http.health import ReadinessCheck, health_blueprint
from tripline_http.keys.key_file import ApiKey
from tripline_http.metrics import install_metrics, install_request_metrics
from tripline_http.request_ids import install_request_ids

MAX_BODY_BYTES = 262_144


@dataclass(frozen=True, slots=True)
class Access:
    """Who is let in: the keys, and the names that the service is called by; None for any name.

    :ivar metrics: whether whoever reaches the port may read `/metrics`; if not, it is not there
    """

    keys: Iterable[ApiKey] = ()
    hosts: KnownHosts | None = LOOPBACK
    metrics: bool = True


def new_app(
    name: str,
    *,
    access: Access,
    registry: CollectorRegistry,
    checks: Mapping[str, ReadinessCheck],
    max_body_bytes: int = MAX_BODY_BYTES,
) -> Flask:
    """An app without views of its own yet; longer bodies than `max_body_bytes` are answered with 413."""
    app = Flask(name, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = max_body_bytes
    app.url_map.strict_slashes = True
    app.url_map.redirect_defaults = False
    app.url_map.merge_slashes = False
    install_request_ids(app)
    install_answer_headers(app)
    install_request_metrics(app, registry)
    if access.hosts is not None:
        install_known_hosts(app, access.hosts)
    install_api_keys(app, access.keys, registry)
    install_query_parameters(app)
    install_error_handlers(app)
    app.register_blueprint(health_blueprint(checks))
    if access.metrics:
        install_metrics(app, registry)
    return app
