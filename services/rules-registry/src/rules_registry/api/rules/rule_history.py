"""History: a rule's versions, the log, and the widest windows after it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import marshmallow as ma

from rules_registry.api.pages import begin_after, link_of
from rules_registry.api.rule_schemas.answer_schemas import (
    PageQuery,
    RuleEventQuery,
    RuleVersionPageSchema,
    RuleVersionSchema,
    WidestWindowsSchema,
)
from rules_registry.api.rule_schemas.event_schemas import RuleEventPageSchema
from rules_registry.api.rule_schemas.import_schemas import DiffQuery, DiffSchema
from rules_registry.api.rule_schemas.representations import version_json
from rules_registry.api.rules.rules import RULE
from rules_registry.api.services import queries
from rules_registry.domain.version_diff import differences
from rules_registry.domain.wording.change_words import describe_versions
from tripline_http.links import LINK_HEADER_DOC, next_link
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("history", __name__, "Versions, events, and what they make the engine keep")


class VersionQuery(PageQuery):
    """Which of a rule's versions."""

    order = ma.fields.String(
        load_default="oldest",
        validate=ma.validate.OneOf(("oldest", "newest")),
        metadata={"description": "Which come first"},
    )


@blueprint.route(f"{RULE}/versions", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.arguments(VersionQuery, location="query")
@blueprint.response(200, RuleVersionPageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(400, 404, 503)
@blueprint.doc(operationId="listRuleVersions")
def versions(query: Mapping[str, Any], rule_id: int) -> tuple[dict[str, Any], dict[str, str]]:
    """List a rule's versions

    Every event of the rule is one, pause and resume included. `reason` is what was said of why, null where nobody did.
    """
    listing = {"ruleId": rule_id, "order": query["order"]}
    after = begin_after("versions", listing, query["cursor"])
    page = queries().versions(rule_id, after, query["limit"], newest_first=query["order"] == "newest")
    items = [version_json(row) for row in page.rows]
    return {"items": items}, link_of("versions", listing, page)


@blueprint.route(f"{RULE}/versions/<int(min=1, max=2147483647):version>", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.response(200, RuleVersionSchema)
@blueprint.problems(404, 503)
@blueprint.doc(operationId="getRuleVersion")
def version(rule_id: int, version: int) -> dict[str, Any]:
    """Read one version of a rule"""
    return version_json(queries().version(rule_id, version))


@blueprint.route(f"{RULE}/diff", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.arguments(DiffQuery, location="query")
@blueprint.response(200, DiffSchema)
@blueprint.problems(404, 503)
@blueprint.doc(operationId="diffRuleVersions")
def diff(query: Mapping[str, Any], rule_id: int) -> dict[str, Any]:
    """Read what is different between two versions of a rule

    In words, and as changes: state, name, `effectiveFrom`, and the definition by field; a filter is one field.
    """
    before, after = (queries().version(rule_id, query[name])["body"] for name in ("from_", "to"))
    return {
        "ruleId": rule_id,
        "fromVersion": query["from_"],
        "toVersion": query["to"],
        "summary": describe_versions(before, after),
        "changes": [
            {"field": change.field, "before": change.before, "after": change.after}
            for change in differences(before, after)
        ],
    }


@blueprint.route("/v1/rule-events", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.arguments(RuleEventQuery, location="query")
@blueprint.response(200, RuleEventPageSchema, headers=LINK_HEADER_DOC)
@blueprint.problems(503)
@blueprint.doc(operationId="listRuleEvents")
def events(query: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Read the log by position

    The events as they are in rules.v1, deleted rules' included. To follow the log, send the last position seen as
    `after`.
    """
    page = queries().events(query["ruleId"], query["after"], query["limit"])
    headers = {} if page.next_after is None else next_link(page.next_after, "after")
    return {"items": [row["body"] for row in page.rows]}, headers


@blueprint.route("/v1/widest-windows", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.response(200, WidestWindowsSchema)
@blueprint.problems(503)
@blueprint.doc(operationId="getWidestWindows")
def widest_windows() -> dict[str, Any]:
    """Read the widest window of each grouping set in use, and whose it is"""
    position, items = queries().widest_windows()
    return {"position": position, "items": items}
