"""/v1/rules/{id}/purpose: what a rule is for."""

from __future__ import annotations

from typing import Any

from rules_registry.api.actor import actor_of_request, takes_reason
from rules_registry.api.rule_schemas.purpose_schemas import PurposeSchema
from rules_registry.api.rules.rules import RULE
from rules_registry.api.services import expected_versions, purpose_queries, purposes
from rules_registry.domain.purposes.rule_purpose import KeptPurpose, Purpose
from tripline_http.etags import ETAG_HEADER_DOC, IfMatch, etag_of
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("purposes", __name__, "What rules are for")


@blueprint.route(f"{RULE}/purpose", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.response(200, PurposeSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(404, 503)
@blueprint.doc(operationId="getRulePurpose")
def get(rule_id: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Read what a rule is for

    Version 0 where nobody has said it yet. Of a deleted rule too, for its alerts stay.
    """
    return _shown(purpose_queries().get(rule_id))


@blueprint.route(f"{RULE}/purpose", methods=["PUT"])
@blueprint.requires("rules:write")
@blueprint.if_match
@blueprint.arguments(PurposeSchema)
@takes_reason
@blueprint.response(200, PurposeSchema, headers=ETAG_HEADER_DOC)
@blueprint.problems(400, 404, 413, 415, 503)
@blueprint.doc(operationId="changeRulePurpose")
def change(if_match: IfMatch, purpose: Purpose, rule_id: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Say what a rule is for, all of it at once

    It has a version of its own. Neither the definition nor the state of the rule changes and the engine is not told, so
    it happens at once, under four eyes too; the audit trail has it. The same again changes nothing.
    """
    kept = purposes().change(actor_of_request(), rule_id, expected_versions(if_match), purpose)
    return _shown(kept)


def _shown(kept: KeptPurpose) -> tuple[dict[str, Any], dict[str, str]]:
    return kept.purpose.to_json(), {"ETag": etag_of(kept.version)}
