"""/v1/lists/{name}/entries: single entries of a list, to look at, add and remove."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flask import Response

from rules_registry.api.actor import actor_of_request, takes_reason
from rules_registry.api.idempotency import IDEMPOTENCY_KEY_DOC, repeatable, response_of
from rules_registry.api.named.entry_body import ENTRIES_BODY, VALUES_BODY, read_added, read_removed
from rules_registry.api.named.entry_schemas import EntriesOutcomeSchema, EntryPageSchema, EntryQuery
from rules_registry.api.named.named_value_body import MAX_BODY_BYTES, NAME_DOC, Json
from rules_registry.api.named.named_value_views import expected_of
from rules_registry.api.pages import link_after
from rules_registry.api.review.change_views import ACCEPTED
from rules_registry.api.review.proposal import propose
from rules_registry.api.services import named_queries, needs_approval, registry
from rules_registry.domain.commands import ChangeEntries
from rules_registry.service.named.list_entries import EntriesOutcome
from rules_registry.service.ports import Answer
from tripline_contracts.filters.list_entries import EntriesChange
from tripline_http.cursors import decode_cursor
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch, etag_of
from tripline_http.links import LINK_HEADER_DOC
from tripline_http.openapi import ApiBlueprint

ENTRIES = "/v1/lists/<name>/entries"
_ADD_DESCRIPTION = """\
Rules that name the list go by its new entries for transactions that are accepted after the event; all other entries
stay. What the list has already changes nothing, or gets another end. An entry is removed when `until` has come, by an
event of its own. `If-Match` is optional."""
_REMOVE_DESCRIPTION = """\
All other entries stay, and what the list has not is passed over. `If-Match` is optional."""


def add_entries(blueprint: ApiBlueprint) -> None:
    """The three operations, under the tag of lists."""
    _add_page(blueprint)
    _add_change(
        blueprint, ENTRIES, ENTRIES_BODY, read_added,
        operationId="addEntries", summary="Add entries to a list", description=_ADD_DESCRIPTION,
    )  # fmt: skip
    _add_change(
        blueprint, f"{ENTRIES}/remove", VALUES_BODY, read_removed,
        operationId="removeEntries", summary="Remove entries from a list", description=_REMOVE_DESCRIPTION,
    )  # fmt: skip


def _add_page(blueprint: ApiBlueprint) -> None:
    @blueprint.route(ENTRIES, methods=["GET"], parameters=[NAME_DOC])
    @blueprint.requires("rules:read")
    @blueprint.arguments(EntryQuery, location="query")
    @blueprint.response(200, EntryPageSchema, headers={**ETAG_HEADER_DOC, **LINK_HEADER_DOC})
    @blueprint.problems(400, 404, 503)
    @blueprint.doc(operationId="listEntries", summary="List entries of a list by value, or search them")
    def entries(query: Mapping[str, Any], name: str) -> tuple[Json, dict[str, str]]:
        listing, after = f"entries of {name}", ""
        filters = {"prefix": query["prefix"]}
        if query["cursor"] is not None:
            (key,) = decode_cursor(query["cursor"], listing, filters, [str])
            after = str(key)
        page = named_queries().entries(name, query["prefix"], after, query["limit"])
        headers = {"ETag": etag_of(page.version), **link_after(listing, filters, page.next_after)}
        return {"items": [dict(row) for row in page.rows]}, headers


def _add_change(
    blueprint: ApiBlueprint, path: str, schema: str, read: Callable[[str, Json], EntriesChange], **doc: str
) -> None:
    """An operation whose body says which entries come or go."""

    @blueprint.route(path, methods=["POST"], parameters=[NAME_DOC], endpoint=doc["operationId"])
    @blueprint.requires("rules:write")
    @blueprint.optional_if_match
    @blueprint.parameter(IDEMPOTENCY_KEY_DOC)
    @blueprint.json_body(schema, max_bytes=MAX_BODY_BYTES)
    @takes_reason
    @blueprint.response(200, EntriesOutcomeSchema, headers=ETAG_HEADER_DOC)
    @blueprint.or_response(**ACCEPTED)
    @blueprint.problems(404, 409, 503)
    @blueprint.doc(**doc)
    def change(if_match: IfMatch | None, body: Json, name: str) -> Response:
        return _change(name, if_match, read(name, body), body)


def _change(name: str, if_match: IfMatch | None, change: EntriesChange, body: Json) -> Response:
    command = ChangeEntries(name, expected_of(if_match), change)
    if needs_approval(command):
        return propose(command, repeatable(body))
    changed = registry().change_entries(actor_of_request(), command, _changed, repeatable(body))
    return response_of(changed)


def _changed(outcome: EntriesOutcome) -> Answer:
    return Answer(200, {"ETag": etag_of(outcome.named.version)}, outcome_json(outcome))


def outcome_json(outcome: EntriesOutcome) -> Json:
    """The list's head, and what came and went."""
    named = outcome.named
    return {
        "name": named.name,
        "version": named.version,
        "position": named.position,
        "changedAt": named.changed_at,
        "changedBy": named.changed_by,
        "size": named.size,
        "added": outcome.added,
        "removed": outcome.removed,
    }
