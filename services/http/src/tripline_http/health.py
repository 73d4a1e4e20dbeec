"""`/livez` (the process runs) and `/readyz` (it can do its work)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import structlog
from flask import Blueprint, Response, jsonify

from tripline_http.errors import ProblemError

log = structlog.get_logger(__name__)

# Passes, or raises with the reason.
ReadinessCheck = Callable[[], None]


def health_blueprint(checks: Mapping[str, ReadinessCheck]) -> Blueprint:
    """The two addresses, open to whoever reaches the port. `/readyz` is 503 with the names of the failed checks."""
    blueprint = Blueprint("health", __name__)

    def livez() -> Response:
        return jsonify(status="ok")

    def readyz() -> Response:
        failed = [name for name, check in checks.items() if not _passes(name, check)]
        if failed:
            raise ProblemError(503, "not-ready", f"Not ready: {', '.join(failed)}.", extra={"failed": failed})
        return jsonify(status="ok", checks=sorted(checks))

    for view in (livez, readyz):
        blueprint.add_url_rule(f"/{view.__name__}", view.__name__, view, methods=["GET"])
    return blueprint


def _passes(name: str, check: ReadinessCheck) -> bool:
    try:
        check()
    except Exception as error:  # noqa: BLE001 - whatever a check meets, the answer is "not ready"
        log.warning("not ready", check=name, reason=str(error))
        return False
    return True
