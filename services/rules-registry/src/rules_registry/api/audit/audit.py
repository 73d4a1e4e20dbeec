"""/v1/audit: the trail by pages and as a file, and its head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from flask import Response

from rules_registry.adapters.audit.audit_queries import AuditFilter
from rules_registry.api.audit.audit_schemas import (
    AuditExportQuery,
    AuditPageQuery,
    AuditPageSchema,
    ChainHeadSchema,
)
from rules_registry.api.pages import begin_after, filters_of, link_after
from rules_registry.api.services import audit_queries
from rules_registry.domain.audit.audit_entry import AuditEntry
from tripline_http.links import LINK_HEADER_DOC
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("audit", __name__, "Who changed what, when and why")

LINES = "application/x-ndjson"
_EXPORT_DOC = {
    "description": 'An entry a line: `{"hash": …, "entry": {…}}`',
    "content": {LINES: {"schema": {"type": "string"}}},
}


@blueprint.route("/v1/audit", methods=["GET"])
@blueprint.requires("audit:read")
@blueprint.arguments(AuditPageQuery, location="query")
@blueprint.response(200, AuditPageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(400, 503)
@blueprint.doc(operationId="listAuditEntries")
def listing(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the audit trail

    Each entry holds the hash of the one before. What was done before the trail began has no role, request id or reason.
    """
    filters = filters_of(query)
    wanted = AuditFilter(**{name: value for name, value in filters.items() if name != "order"})
    after = begin_after("audit", filters, query["cursor"])
    page = audit_queries().page(wanted, after, query["limit"], newest_first=query["order"] == "newest")
    return {"items": [entry_json(entry) for entry in page.entries]}, link_after(
        "audit", filters, page.next_after
    )


@blueprint.route("/v1/audit/export", methods=["GET"])
@blueprint.requires("audit:read")
@blueprint.arguments(AuditExportQuery, location="query")
@blueprint.problems(503)
@blueprint.doc(operationId="exportAuditTrail", responses={"200": _EXPORT_DOC})
def export(query: Mapping[str, Any]) -> Response:
    """Export the audit trail as JSON lines

    Whole, or from one entry on, it can be checked with `rules-registry audit verify`; filtered it has gaps.
    """
    wanted = AuditFilter(**{name: value for name, value in query.items() if name != "after"})
    entries = audit_queries().all(wanted, query["after"])
    return Response(lines_of(entries), mimetype=LINES)


@blueprint.route("/v1/audit/head", methods=["GET"])
@blueprint.requires("audit:read")
@blueprint.response(200, ChainHeadSchema)
@blueprint.problems(503)
@blueprint.doc(operationId="getAuditHead")
def head() -> dict[str, Any]:
    """Read number and hash of the last entry

    Whoever keeps them can show later that no entry up to this one was altered, left out or put in.
    """
    last = audit_queries().head()
    return {"sequence": last.sequence, "hash": last.hash}


def lines_of(entries: Iterator[AuditEntry]) -> Iterator[str]:
    """A line for each entry, with the very text that its hash was taken of."""
    for entry in entries:
        yield f'{{"hash":"{entry.hash}","entry":{entry.text}}}\n'


def entry_json(entry: AuditEntry) -> dict[str, Any]:
    """An entry with its hash."""
    return {**entry.members(), "hash": entry.hash}
