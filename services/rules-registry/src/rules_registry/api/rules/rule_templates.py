"""/v1/rule-templates: rules that teams begin with."""

# ruff: noqa: N815  # the names are those of the JSON

from __future__ import annotations

from typing import Any

import marshmallow as ma

from rules_registry.api.rule_schemas.rule_body import read_rule_body
from rules_registry.api.rule_schemas.rule_body_schema import BODY_SCHEMA
from rules_registry.api.services import installed_type, registry
from rules_registry.domain.history_quota import HistoryQuota, needed_seconds
from tripline_contracts.rules.rule_definition import MAX_WINDOW_SECONDS
from tripline_contracts.rules.rule_templates import RuleTemplate, templates_of
from tripline_http.fields import BoundedInteger
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("templates", __name__, "Rules to begin with")


class TemplateSchema(ma.Schema):
    """A rule to begin with: take it, set its numbers, publish it."""

    templateId = ma.fields.String(required=True)
    title = ma.fields.String(required=True)
    explanation = ma.fields.String(required=True, metadata={"description": "What it is against"})
    definition = ma.fields.Raw(
        required=True,
        metadata={
            "allOf": [{"$ref": f"#/components/schemas/{BODY_SCHEMA}"}],
            "description": "A body that POST /v1/rules takes",
        },
    )
    neededSeconds = BoundedInteger(
        1,
        MAX_WINDOW_SECONDS,
        required=True,
        metadata={"description": "For how long it has transactions kept: its widest window, or a bucket"},
    )
    keptSeconds = BoundedInteger(
        0,
        MAX_WINDOW_SECONDS,
        required=True,
        allow_none=True,
        metadata={
            "description": "For how long this installation keeps them for such a rule; one that needs more is refused "
            "as it stands. null: nothing bounds it"
        },
    )
    catalogue = ma.fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "Its number in a list of rules that others published; null of any other"},
    )


class TemplatesSchema(ma.Schema):
    """Of the event type that is installed; none of one that was declared elsewhere."""

    items = ma.fields.List(ma.fields.Nested(TemplateSchema), required=True)


@blueprint.route("/v1/rule-templates", methods=["GET"])
@blueprint.requires("rules:read")
@blueprint.response(200, TemplatesSchema)
@blueprint.doc(operationId="listRuleTemplates")
def list_templates() -> dict[str, Any]:
    """List rules to begin with

    Each can be published as it stands, where this installation keeps history for as long as it needs.
    """
    room = registry().quotas.history
    return {"items": [_told(template, room) for template in templates_of(installed_type())]}


def _told(template: RuleTemplate, room: HistoryQuota | None) -> dict[str, Any]:
    definition = read_rule_body(template.definition, installed_type()).definition
    kept = None if room is None else min(room.kept_seconds(definition), MAX_WINDOW_SECONDS)
    return {**template.to_json(), "neededSeconds": needed_seconds(definition), "keptSeconds": kept}
