"""The console's files, and the way from them to the rules registry."""

from __future__ import annotations

from importlib import resources
from typing import Literal

from flask import Blueprint, Response, abort, request

from alert_api.adapters.registry import RegistryReader
from tripline_http.errors import ProblemError

# Everything from this origin and nothing inline: a text that slipped in as markup could load and run nothing.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
TYPES = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8"} | {
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
QUERY = ("cursor", "limit")


def console_blueprint(rules: RegistryReader) -> Blueprint:
    """The page at /, its files under /console/, the registry's readings under /console/registry/."""
    blueprint = Blueprint("console", __name__)
    files = {
        entry.name: entry.read_bytes()
        for entry in resources.files("alert_api").joinpath("console").iterdir()
        if entry.name.rpartition(".")[2] in TYPES
    }

    @blueprint.get("/")
    def page() -> Response:
        return _file("index.html")

    @blueprint.get("/console/<name>")
    def asset(name: str) -> Response:
        return _file(name)

    @blueprint.get("/console/registry/<any(rules, 'rule-status'):name>")
    def registry(name: Literal["rules", "rule-status"]) -> Response:
        authorization = request.headers.get("Authorization")
        if not authorization:
            challenge = {"WWW-Authenticate": 'Bearer realm="tripline"'}
            raise ProblemError(401, "unauthenticated", "Send a known API key.", headers=challenge)
        query = {key: request.args[key] for key in QUERY if key in request.args}
        answer = rules.read(name, query, authorization)
        response = Response(answer.body, status=answer.status)
        response.headers.update(answer.headers)
        response.headers["Cache-Control"] = "no-store"
        return response

    def _file(name: str) -> Response:
        if name not in files:
            abort(404)
        response = Response(files[name], content_type=TYPES[name.rpartition(".")[2]])
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-cache"
        response.add_etag()
        response.make_conditional(request)
        return response

    return blueprint
