"""/v1/parameters: numbers that filters and limits name, changed without a new version of a rule."""

from __future__ import annotations

from rules_registry.api.named.named_value_blueprint import NamedValueResource, named_value_blueprint
from rules_registry.api.named.named_value_body import PARAMETER_BODY
from rules_registry.api.named.named_value_schemas import ParameterPageSchema, ParameterSchema
from tripline_contracts.filters import named_values

PUT_DESCRIPTION = """\
Rules that name it go by it for transactions that are accepted after the event; they get no new version. The same
value again changes nothing. `If-Match` is optional: "0" makes it only."""

blueprint = named_value_blueprint(
    NamedValueResource(
        kind="parameter",
        member="value",
        read_value=named_values.read_parameter,
        body=PARAMETER_BODY,
        schema=ParameterSchema,
        page_schema=ParameterPageSchema,
        tag_description="Numbers that filters and limits name",
        listing_summary="List parameters by name",
        put_description=PUT_DESCRIPTION,
    )
)
