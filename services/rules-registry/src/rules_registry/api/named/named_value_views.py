"""Expected versions, answers and pages of lists and of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from flask import Response

from rules_registry.adapters.named.named_queries import NamedPage
from rules_registry.api.actor import actor_of_request
from rules_registry.api.idempotency import repeatable, response_of
from rules_registry.api.pages import link_after
from rules_registry.api.review.proposal import propose
from rules_registry.api.services import expected_versions, named_queries, needs_approval, registry
from rules_registry.domain.commands import ChangeNamed, Expected
from rules_registry.domain.named_value import NamedEntry, NamedValue, value_json
from rules_registry.service.named.named_values import NamedChange
from rules_registry.service.ports import Answer
from tripline_contracts.filters.named_values import Kind
from tripline_http.cursors import decode_cursor
from tripline_http.etags import IfMatch, etag_of
from tripline_http.fields import MAX_ID

Json = dict[str, Any]
LISTINGS: Final[Mapping[Kind, str]] = {"list": "lists", "parameter": "parameters"}
LOCATION_DOC = {"Location": {"description": "Its address", "schema": {"type": "string"}}}


def change(kind: Kind, name: str, if_match: IfMatch | None, value: NamedValue, body: Json) -> Response:
    """Makes or changes it: 201 with its address, or 200; or 202 with a change that waits for its approval."""
    command = ChangeNamed(kind, name, expected_of(if_match), value)
    if needs_approval(command):
        return propose(command, repeatable(body))
    return response_of(registry().change_named(actor_of_request(), command, _changed, repeatable(body)))


def page_of(kind: Kind, query: Mapping[str, Any]) -> tuple[NamedPage, dict[str, str]]:
    """A page by name, and the header that leads to the next."""
    listing, after = LISTINGS[kind], ""
    if query["cursor"] is not None:
        (key,) = decode_cursor(query["cursor"], listing, {}, [str])
        after = str(key)
    page = named_queries().page(kind, after, query["limit"])
    return page, link_after(listing, {}, page.next_after)


def named_json(named: NamedEntry) -> Json:
    """A list with its values, unless it is too long, or a parameter."""
    return {
        "name": named.name,
        "version": named.version,
        "position": named.position,
        "changedAt": named.changed_at,
        "changedBy": named.changed_by,
        **_value_members(named),
    }


def _value_members(named: NamedEntry) -> Json:
    if named.value is None:
        return {"size": named.size}
    value = value_json(named.value)
    return {"size": len(value), "values": value} if named.kind == "list" else {"value": value}


def row_json(row: Mapping[str, Any]) -> Json:
    """A row of a listing: of a list its size only."""
    shown = "value" if row["size"] is None else "size"
    return {
        "name": row["name"],
        "version": row["version"],
        "position": row["position"],
        "changedAt": row["changed_at"],
        "changedBy": row["changed_by"],
        shown: row[shown],
    }


def expected_of(if_match: IfMatch | None) -> Expected:
    """`*` is any version of what exists; what does not exist has version 0."""
    if if_match is None:
        return None
    return range(1, MAX_ID + 1) if if_match.any_version else expected_versions(if_match)


def _changed(named_change: NamedChange) -> Answer:
    named = named_change.named
    headers = {"ETag": etag_of(named.version)}
    if not named_change.is_new:
        return Answer(200, headers, named_json(named))
    location = f"/v1/{LISTINGS[named.kind]}/{named.name}"
    return Answer(201, {**headers, "Location": location}, named_json(named))
