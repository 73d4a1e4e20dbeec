"""/v1/rule-templates: rules that teams begin with."""

from __future__ import annotations

from typing import Any

import marshmallow as ma

from rules_registry.api.rule_schemas.rule_body_schema import BODY_SCHEMA
from rules_registry.api.services import installed_type
from tripline_contracts.rules.rule_templates import templates_of
from tripline_http.openapi import new_blueprint

blueprint = new_blueprint("templates", __name__, "Rules to begin with")


class TemplateSchema(ma.Schema):
    """A rule to begin with: take it, set its numbers, publish it."""

    templateId = ma.fields.String(required=True)  # noqa: N815 - the name of the JSON
    title = ma.fields.String(required=True)
    explanation = ma.fields.String(required=True, metadata={"description": "What it is against"})
    definition = ma.fields.Raw(
        required=True,
        metadata={
            "allOf": [{"$ref": f"#/components/schemas/{BODY_SCHEMA}"}],
            "description": "A body that POST /v1/rules takes",
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

    Each can be published as it stands.
    """
    return {"items": [template.to_json() for template in templates_of(installed_type())]}
