"""The blueprint of a kind of named values: a page of them, one of them, and PUT."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import marshmallow as ma
from flask import Response

from rules_registry.api.actor import takes_reason
from rules_registry.api.idempotency import IDEMPOTENCY_KEY_DOC
from rules_registry.api.named.named_value_body import NAME_DOC, read_named_body
from rules_registry.api.named.named_value_views import (
    LISTINGS,
    LOCATION_DOC,
    change,
    named_json,
    page_of,
    row_json,
)
from rules_registry.api.review.change_views import ACCEPTED
from rules_registry.api.rule_schemas.answer_schemas import PageQuery
from rules_registry.api.services import named_queries
from rules_registry.domain.named_value import NamedValue
from tripline_contracts.filters.named_values import Kind
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch, etag_of
from tripline_http.links import LINK_HEADER_DOC
from tripline_http.openapi import ApiBlueprint, new_blueprint


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedValueResource:
    """A kind of named values as the API shows it.

    `member` is the one member of the body of PUT, `read_value` parses it; `body` names its schema among the components.
    The three texts document the tag, the listing and PUT.
    """

    kind: Kind
    member: str
    read_value: Callable[[object], NamedValue]
    body: str
    schema: type[ma.Schema]
    page_schema: type[ma.Schema]
    tag_description: str
    listing_summary: str
    put_description: str
    max_body_bytes: int | None = None

    @property
    def collection(self) -> str:
        """The path segment of the collection, which is the tag too."""
        return LISTINGS[self.kind]


def named_value_blueprint(resource: NamedValueResource) -> ApiBlueprint:
    """The three operations of the resource."""
    blueprint = new_blueprint(resource.collection, __name__, resource.tag_description)
    _add_listing(blueprint, resource)
    _add_get(blueprint, resource)
    _add_put(blueprint, resource)
    return blueprint


def _add_listing(blueprint: ApiBlueprint, resource: NamedValueResource) -> None:
    @blueprint.route(f"/v1/{resource.collection}", methods=["GET"])
    @blueprint.requires("rules:read")
    @blueprint.arguments(PageQuery, location="query")
    @blueprint.response(200, resource.page_schema, headers=LINK_HEADER_DOC)
    @blueprint.problems(400, 503)
    @blueprint.doc(operationId=f"list{resource.collection.capitalize()}", summary=resource.listing_summary)
    def listing(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        page, headers = page_of(resource.kind, query)
        return {"items": [row_json(row) for row in page.rows]}, headers


def _add_get(blueprint: ApiBlueprint, resource: NamedValueResource) -> None:
    @blueprint.route(f"/v1/{resource.collection}/<name>", methods=["GET"], parameters=[NAME_DOC])
    @blueprint.requires("rules:read")
    @blueprint.response(200, resource.schema, headers=ETAG_HEADER_DOC)
    @blueprint.problems(404, 503)
    @blueprint.doc(operationId=f"get{resource.kind.capitalize()}", summary=f"Read a {resource.kind}")
    def get(name: str) -> tuple[dict[str, Any], dict[str, str]]:
        entry = named_queries().named(resource.kind, name)
        return named_json(entry), {"ETag": etag_of(entry.version)}


def _add_put(blueprint: ApiBlueprint, resource: NamedValueResource) -> None:
    @blueprint.route(f"/v1/{resource.collection}/<name>", methods=["PUT"], parameters=[NAME_DOC])
    @blueprint.requires("rules:write")
    @blueprint.optional_if_match
    @blueprint.parameter(IDEMPOTENCY_KEY_DOC)
    @blueprint.json_body(resource.body, max_bytes=resource.max_body_bytes)
    @takes_reason
    @blueprint.response(200, resource.schema, headers=ETAG_HEADER_DOC)
    @blueprint.or_response(201, resource.schema, headers={**ETAG_HEADER_DOC, **LOCATION_DOC})
    @blueprint.or_response(**ACCEPTED)
    @blueprint.problems(409, 503)
    @blueprint.doc(
        operationId=f"put{resource.kind.capitalize()}",
        summary=f"Make a {resource.kind}, or change it",
        description=resource.put_description,
    )
    def put(if_match: IfMatch | None, body: dict[str, Any], name: str) -> Response:
        checked_name, value = read_named_body(name, body, resource.member, resource.read_value)
        return change(resource.kind, checked_name, if_match, value, body)
