"""/v1/parameters: numbers that filters and limits name, changed without a new version of a rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response

from rules_registry.api.idempotency import IDEMPOTENCY_KEY_DOC
from rules_registry.api.named.named_value_body import NAME_DOC, PARAMETER_BODY, read_named_body
from rules_registry.api.named.named_value_schemas import ParameterPageSchema, ParameterSchema
from rules_registry.api.named.named_value_views import LOCATION_DOC, change, named_json, page_of, row_json
from rules_registry.api.rule_schemas.answer_schemas import PageQuery
from rules_registry.api.services import named_queries
from tripline_contracts.filters import named_values
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch, etag_of
from tripline_http.links import LINK_HEADER_DOC
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("parameters", __name__, "Numbers that filters and limits name")

PARAMETERS = "/v1/parameters"
PARAMETER = f"{PARAMETERS}/<name>"


@blueprint.route(PARAMETERS, methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.arguments(PageQuery, location="query")
@blueprint.response(200, ParameterPageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(400, 503)
@blueprint.doc(operationId="listParameters")
def listing(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """List parameters by name"""
    page, headers = page_of("parameter", query)
    return {"items": [row_json(row) for row in page.rows]}, headers


@blueprint.route(PARAMETER, methods=["GET"], parameters=[NAME_DOC])
@blueprint.requires("rules:read")
@blueprint.response(200, ParameterSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(404, 503)
@blueprint.doc(operationId="getParameter")
def get(name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Read a parameter"""
    named = named_queries().named("parameter", name)
    return named_json(named), {"ETag": etag_of(named.version)}


@blueprint.route(PARAMETER, methods=["PUT"], parameters=[NAME_DOC])
@blueprint.requires("rules:write")
@blueprint.optional_if_match
@blueprint.parameter(IDEMPOTENCY_KEY_DOC)
@blueprint.json_body(PARAMETER_BODY)
@blueprint.response(200, ParameterSchema, headers=ETAG_HEADER_DOC)
@blueprint.or_response(201, ParameterSchema, headers={**ETAG_HEADER_DOC, **LOCATION_DOC})
@blueprint.problems(409, 503)
@blueprint.doc(operationId="putParameter")
def put(if_match: IfMatch | None, body: dict[str, Any], name: str) -> Response:
    """Make a parameter, or change it

    Rules that name it go by it for transactions that are accepted after the event; they get no new version. The same
    value again changes nothing. `If-Match` is optional: "0" makes it only.
    """
    known, value = read_named_body(name, body, "value", named_values.read_parameter)
    return change("parameter", known, if_match, value, body)
