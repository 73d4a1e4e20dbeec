"""/v1/keys: API keys are given out, rotated and revoked."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from rules_registry.api.actor import actor_of_request, takes_reason
from rules_registry.api.keys.key_schemas import (
    GivenKeySchema,
    KeyPageQuery,
    KeyPageSchema,
    NewKeySchema,
    RotationSchema,
)
from rules_registry.api.pages import link_after
from rules_registry.api.services import api_keys, key_queries
from rules_registry.domain.keys.api_key import NAME_PATTERN, Key
from rules_registry.errors import UnfitEnd
from rules_registry.service.api_keys import GivenKey
from tripline_http.cursors import decode_cursor
from tripline_http.errors import FieldError, invalid_input
from tripline_http.links import LINK_HEADER_DOC
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("keys", __name__, "API keys, for admins")

_NAME_DOC = {
    "in": "path",
    "name": "name",
    "required": True,
    "schema": {"type": "string", "pattern": NAME_PATTERN},
}
_NOT_KEPT = {"Cache-Control": "no-store"}


@blueprint.route("/v1/keys", methods=["GET"])
@blueprint.requires("keys:write")
@blueprint.arguments(KeyPageQuery, location="query")
@blueprint.response(200, KeyPageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(400, 503)
@blueprint.doc(operationId="listKeys")
def listing(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """List API keys by name

    Those that were given out here, revoked ones too. Keys of the services' files are not among them.
    """
    after = ""
    if query["cursor"] is not None:
        (key,) = decode_cursor(query["cursor"], "keys", {}, [str])
        after = str(key)
    page = key_queries().page(after, query["limit"])
    return {"items": [_key_json(key, _now_ms()) for key in page.keys]}, link_after(
        "keys", {}, page.next_after
    )


@blueprint.route("/v1/keys", methods=["POST"])
@blueprint.requires("keys:write")
@takes_reason
@blueprint.arguments(NewKeySchema)
@blueprint.response(201, GivenKeySchema)
@blueprint.problems(400, 409, 413, 415, 503)
@blueprint.doc(operationId="giveOutKey")
def give_out(wanted: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Give out an API key

    The answer has the key: it is kept as its hash, and nobody can show it again. All services know it within a second.
    A name is given once, for it is the actor of a history; when an answer was lost, rotate the key.
    """
    try:
        given = api_keys().give_out(actor_of_request(), wanted["name"], wanted["role"], wanted["expiresAt"])
    except UnfitEnd as error:
        raise invalid_input([FieldError("expiresAt", str(error))]) from error
    return _given_json(given), _NOT_KEPT


@blueprint.route("/v1/keys/<name>/rotate", methods=["POST"], parameters=[_NAME_DOC])
@blueprint.requires("keys:write")
@takes_reason
@blueprint.arguments(RotationSchema)
@blueprint.response(200, GivenKeySchema)
@blueprint.problems(400, 404, 409, 413, 415, 503)
@blueprint.doc(operationId="rotateKey")
def rotate(rotation: Mapping[str, Any], name: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Give a key another secret

    The one before is good for `overlapSeconds` more, and not at all without them; those before it end now.
    """

    def end(before: int | None) -> int | None:
        wanted: int | None = rotation.get("expiresAt", before)
        return wanted

    try:
        given = api_keys().rotate(actor_of_request(), name, rotation["overlapSeconds"], end)
    except UnfitEnd as error:
        raise invalid_input([FieldError("expiresAt", str(error))]) from error
    return _given_json(given), _NOT_KEPT


@blueprint.route("/v1/keys/<name>", methods=["DELETE"], parameters=[_NAME_DOC])
@blueprint.requires("keys:write")
@takes_reason
@blueprint.response(204)
@blueprint.problems(404, 409, 503)
@blueprint.doc(operationId="revokeKey")
def revoke(name: str) -> None:
    """Revoke a key

    It lets nobody in any more, within a second. It stays in the list, and its name is not given again.
    """
    api_keys().revoke(actor_of_request(), name)


def _given_json(given: GivenKey) -> dict[str, Any]:
    return {**_key_json(given.key, given.key.newest.created_at), "key": given.clear}


def _key_json(key: Key, now_ms: int) -> dict[str, Any]:
    newest, *earlier = reversed(key.secrets)
    previous = earlier[0].not_after if earlier and earlier[0].is_good(now_ms) else None
    uses = [secret.last_used_at for secret in key.secrets if secret.last_used_at is not None]
    return {
        "name": key.name,
        "role": key.role,
        "state": key.state(now_ms),
        "prefix": newest.prefix,
        "createdAt": key.created_at,
        "createdBy": key.created_by,
        "rotatedAt": newest.created_at if earlier else None,
        "expiresAt": newest.not_after,
        "previousUntil": previous,
        "lastUsedAt": max(uses, default=None),
        "revokedAt": key.revoked_at,
        "revokedBy": key.revoked_by,
    }


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
