"""/v1/backfills: what history was sent in behind the traffic, and what of it still may come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rules_registry.api.control.control_schemas import BackfillPageSchema, BackfillQuery
from rules_registry.api.pages import begin_after, filters_of, link_after
from rules_registry.api.rule_schemas.representations import backfill_json
from rules_registry.api.services import queries
from tripline_http.links import LINK_HEADER_DOC
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint(
    "backfills", __name__, "Backfills, which START_BACKFILL opens and END_BACKFILL closes"
)


@blueprint.route("/v1/backfills", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.arguments(BackfillQuery, location="query")
@blueprint.response(200, BackfillPageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(400, 503)
@blueprint.doc(operationId="listBackfills")
def listing(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """List backfills, newest first

    While one stands, records of transactions.v1 whose header `backfill` names it are let in whatever their age.
    """
    filters = filters_of(query)
    begin = begin_after("backfills", filters, query["cursor"])
    backfills, next_after = queries().backfills(query["state"], begin, query["limit"])
    return {"items": [backfill_json(backfill) for backfill in backfills]}, link_after(
        "backfills", filters, next_after
    )
