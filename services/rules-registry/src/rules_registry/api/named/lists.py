"""/v1/lists: texts that filters look into, changed without a new version of a rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response

from rules_registry.api.idempotency import IDEMPOTENCY_KEY_DOC
from rules_registry.api.named.named_value_body import LIST_BODY, MAX_BODY_BYTES, NAME_DOC, read_named_body
from rules_registry.api.named.named_value_schemas import ListPageSchema, ListSchema
from rules_registry.api.named.named_value_views import LOCATION_DOC, change, named_json, page_of, row_json
from rules_registry.api.rule_schemas.answer_schemas import PageQuery
from rules_registry.api.services import named_queries
from tripline_contracts.filters import named_values
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch, etag_of
from tripline_http.links import LINK_HEADER_DOC
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("lists", __name__, "Named lists that filters look into")

LISTS = "/v1/lists"
LIST = f"{LISTS}/<name>"


@blueprint.route(LISTS, methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.arguments(PageQuery, location="query")
@blueprint.response(200, ListPageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(400, 503)
@blueprint.doc(operationId="listLists")
def listing(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """List lists by name, without their values"""
    page, headers = page_of("list", query)
    return {"items": [row_json(row) for row in page.rows]}, headers


@blueprint.route(LIST, methods=["GET"], parameters=[NAME_DOC])
@blueprint.requires("rules:read")
@blueprint.response(200, ListSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(404, 503)
@blueprint.doc(operationId="getList")
def get(name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Read a list"""
    named = named_queries().named("list", name)
    return named_json(named), {"ETag": etag_of(named.version)}


@blueprint.route(LIST, methods=["PUT"], parameters=[NAME_DOC])
@blueprint.requires("rules:write")
@blueprint.optional_if_match
@blueprint.parameter(IDEMPOTENCY_KEY_DOC)
@blueprint.json_body(LIST_BODY, max_bytes=MAX_BODY_BYTES)
@blueprint.response(200, ListSchema, headers=ETAG_HEADER_DOC)
@blueprint.or_response(201, ListSchema, headers={**ETAG_HEADER_DOC, **LOCATION_DOC})
@blueprint.problems(409, 503)
@blueprint.doc(operationId="putList")
def put(if_match: IfMatch | None, body: dict[str, Any], name: str) -> Response:
    """Make a list, or change it

    The body is the whole list. Rules that name it go by it for transactions that are accepted after the event; they
    get no new version. The same values again change nothing. `If-Match` is optional: "0" makes it only.
    """
    known, value = read_named_body(name, body, "values", named_values.read_list)
    return change("list", known, if_match, value, body)
