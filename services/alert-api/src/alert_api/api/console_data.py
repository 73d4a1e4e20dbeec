"""The console's data from other services, on this origin: registry, engine, generator, transactions.

Registry and generator are asked with the caller's own key, that of a session too, and judge what it may do. That the
key is a known one is judged here first, and for the generator its scope too. The engine's metrics ask for no key, so
the key is judged here alone: who may read alerts may look.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from flask import Blueprint, Response, jsonify, request

from alert_api.adapters.engine_metrics import EngineMetrics
from alert_api.adapters.newest_transactions import NewestTransactions
from alert_api.adapters.upstream import Answer, Question, Upstream
from alert_api.api.traces import TraceReader
from alert_api.errors import NotConnected
from alert_api.service.health.health_desk import HealthDesk
from alert_api.service.proofs import Prover
from tripline_contracts.filters import named_values
from tripline_http.auth import authorize, current_credential, identify
from tripline_http.errors import FieldError, ProblemError, bad_request
from tripline_http.guards.query_parameters import takes_any_query

_SENT_ON: Final = ("Content-Type", "Idempotency-Key", "If-Match", "X-Request-Id")
# A list that the registry takes, whatever its characters are; longer than what this service itself is sent.
_MAX_BODY_BYTES: Final = 2 * named_values.MAX_LIST_BYTES
# Ids and names, those of API keys too: none begins with a dot.
_SEGMENT: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._@-]*", re.ASCII)
_METHODS: Final = ["GET", "POST", "PUT", "DELETE"]


@dataclass(frozen=True, slots=True)
class Line:
    """The parts of the line that are looked at; None is not connected."""

    registry: Upstream
    engine: EngineMetrics | None = None
    generator: Upstream | None = None
    transactions: NewestTransactions | None = None
    traces: TraceReader | None = None
    prover: Prover | None = None
    health: HealthDesk | None = None

    def close(self) -> None:
        """Free all connections."""
        parts = (
            self.registry, self.engine, self.generator, self.transactions, self.traces, self.prover, self.health,
        )  # fmt: skip
        for part in parts:
            if part is not None:
                part.close()


def console_data_blueprint(line: Line) -> Blueprint:
    """Everything under /console/ that is no file. Not part of the documented API: for this console only."""
    blueprint = Blueprint("console_data", __name__, url_prefix="/console")
    _add_proxies(blueprint, line)
    _add_readings(blueprint, line)

    def keep_nothing(response: Response) -> Response:
        response.headers["Cache-Control"] = "no-store"
        return response

    blueprint.after_request(keep_nothing)
    return blueprint


def _add_proxies(blueprint: Blueprint, line: Line) -> None:
    @blueprint.route("/registry/<path:path>", methods=_METHODS)
    @takes_any_query
    def registry(path: str) -> Response:
        # Before the body is read: a caller without a known key must not make this process hold and send on a megabyte.
        identify()
        request.max_content_length = _MAX_BODY_BYTES
        return _handed_on(line.registry.ask(_question(path)))

    @blueprint.route("/generator/<path:path>", methods=_METHODS)
    @takes_any_query
    def generator(path: str) -> Response:
        authorize("traffic:read" if request.method == "GET" else "traffic:write")
        if line.generator is None:
            raise NotConnected("The traffic generator", "TRIPLINE_GENERATOR_URL")
        answer = line.generator.ask(_question(path))
        if answer.status == HTTPStatus.UNAUTHORIZED:
            # It knows the keys of its file only. This key is known here, so its holder stays signed in.
            raise ProblemError(403, "unknown-to-generator", "The traffic generator does not know this key.")
        return _handed_on(answer)


def _add_readings(blueprint: Blueprint, line: Line) -> None:
    @blueprint.get("/engine")
    def engine() -> Response:
        authorize("alerts:read")
        if line.engine is None:
            raise NotConnected("The engine", "TRIPLINE_ENGINE_METRICS_URL")
        return jsonify(line.engine.read())

    @blueprint.get("/transactions")
    def transactions() -> Response:
        authorize("alerts:read")
        if line.transactions is None:
            raise NotConnected("Kafka", "TRIPLINE_KAFKA")
        glance = line.transactions.look()
        return jsonify(written=glance.written, items=list(glance.newest))


def _question(path: str) -> Question:
    """This request, for another service: only below /v1/, and no path that says more than it seems to."""
    if not all(_SEGMENT.fullmatch(segment) for segment in path.split("/")):
        raise ProblemError(404, None, "There is nothing here.")
    headers = {name: request.headers[name] for name in _SENT_ON if name in request.headers}
    # Of a session too: another service knows keys, and no cookie of this one.
    headers["Authorization"] = f"Bearer {current_credential()}"
    if foreign := [name for name, value in headers.items() if not value.isascii()]:
        # A header goes on as ASCII or not at all.
        errors = [FieldError(f"header.{name}", "expected ASCII characters") for name in foreign]
        raise bad_request("The request has headers that cannot be handed on.", errors=errors)
    body: bytes | None = request.get_data(cache=False) or None
    query: Any = tuple(request.args.items(multi=True))
    return Question(request.method, f"/v1/{path}", query, headers, body)


def _handed_on(answer: Answer) -> Response:
    response = Response(answer.body, status=answer.status)
    response.headers.update(answer.headers)
    return response
