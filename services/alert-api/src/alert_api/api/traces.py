"""/v1/rules/…/traces: what a traced rule came to, evaluation by evaluation."""

from __future__ import annotations

from typing import Any, Final, Protocol

import marshmallow as ma
from flask import Response, jsonify

from alert_api.errors import NotConnected
from tripline_http.fields import MAX_ID, QueryInteger
from tripline_http.openapi import ApiBlueprint, new_blueprint

PATH: Final = f"/v1/rules/<int(min=1, max={MAX_ID}):rule_id>/traces"


class TraceReader(Protocol):
    """Where traces are read."""

    def newest(self, rule_id: int, limit: int) -> list[dict[str, Any]]:
        """At most `limit` records of the rule, newest first. Raises UpstreamUnavailable."""

    def close(self) -> None:
        """Leave."""


class TraceQuery(ma.Schema):
    """How much of them."""

    limit = QueryInteger(1, 100, load_default=50)


def traces_blueprint(traces: TraceReader | None) -> ApiBlueprint:
    """The view; without a reader it answers that Kafka is not connected."""
    blueprint = new_blueprint("traces", __name__, "What a rule that is traced came to")

    @blueprint.route(PATH, methods=["GET"])
    @blueprint.requires("alerts:read")
    @blueprint.arguments(TraceQuery, location="query")
    @blueprint.response(200, {"$ref": "#/components/schemas/TracePage"})
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId="listRuleTraces")
    def newest(query: dict[str, Any], rule_id: int) -> Response:
        """The newest evaluations of a traced rule, newest first

        Among the newest few thousand of all traced rules; of a rule that is not traced, or that is not there, none.
        The rules registry switches a trace on, with the control command TRACE_RULE.
        """
        if traces is None:
            raise NotConnected("Kafka", "TRIPLINE_KAFKA")
        return jsonify(items=traces.newest(rule_id, query["limit"]))

    return blueprint
