"""/v1/mapping-proposals: a mapping for a file whose first bytes are sent, and what it reads."""

from __future__ import annotations

from typing import Any, Final

from rules_registry.api.mappings.mapping_body import BODY_SCHEMA, MAX_BODY, read_mapping_body
from rules_registry.api.mappings.mapping_json import preview_json, proposal_json
from rules_registry.api.mappings.mapping_schemas import MappingProposalSchema
from rules_registry.api.services import installed_type
from tripline_contracts.errors import InvalidMapping, UnreadableFile
from tripline_contracts.event_type import EventType
from tripline_contracts.recordings.mapping_reader import read_mapping
from tripline_contracts.recordings.proposals.file_head import Head, head_of_bytes
from tripline_contracts.recordings.proposals.preview import preview
from tripline_contracts.recordings.proposals.proposal_text import proposed, text_of
from tripline_http.errors import FieldError, invalid_input
from tripline_http.openapi import new_blueprint

_PROBLEMS: Final = 100

blueprint = new_blueprint("mappings", __name__, "Mappings of files that rules are tried on")


@blueprint.route("/v1/mapping-proposals", methods=["POST"])
@blueprint.requires("rules:write")
@blueprint.json_body(BODY_SCHEMA, max_bytes=MAX_BODY)
@blueprint.response(200, MappingProposalSchema)
@blueprint.doc(operationId="proposeMapping")
def propose(body: dict[str, Any]) -> dict[str, Any]:
    """Propose a mapping for a file, or try one on it

    The first bytes of a file suffice: what is certain, likely or open in a mapping for it, with reasons, and the first
    rows as they would be read, once nothing is open. With a `mapping` that one is tried. Nothing is kept. Parquet is
    refused: `tripline-engine propose-mapping` reads it.
    """
    asked = read_mapping_body(body)
    event_type = installed_type()
    try:
        head = head_of_bytes(asked.head, is_whole=asked.is_whole)
        proposal = None if asked.mapping is not None else proposed(head, event_type)
    except UnreadableFile as error:
        raise invalid_input([FieldError("head", str(error))]) from error
    text = asked.mapping if proposal is None else text_of(proposal)
    return {
        "proposal": None if proposal is None else proposal_json(head, proposal),
        "mapping": text,
        **_tried(text or "", head, event_type),
    }


def _tried(text: str, head: Head, event_type: EventType) -> dict[str, Any]:
    """What the mapping reads, or why it does not."""
    try:
        first = preview(head, event_type, read_mapping(text, event_type))
    except InvalidMapping as error:
        problems = [{"field": one.field, "message": one.message} for one in error.problems[:_PROBLEMS]]
        return {"problems": problems, "firstRows": None}
    except UnreadableFile as error:
        return {"problems": [{"field": "", "message": str(error)}], "firstRows": None}
    return {"problems": [], "firstRows": preview_json(first)}
