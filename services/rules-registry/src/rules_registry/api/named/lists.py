"""/v1/lists: texts that filters look into, changed without a new version of a rule."""

from __future__ import annotations

from rules_registry.api.named.list_entries import add_entries
from rules_registry.api.named.list_imports import add_imports
from rules_registry.api.named.named_value_blueprint import NamedValueResource, named_value_blueprint
from rules_registry.api.named.named_value_body import LIST_BODY, MAX_BODY_BYTES
from rules_registry.api.named.named_value_schemas import ListPageSchema, ListSchema
from tripline_contracts.filters import named_values

PUT_DESCRIPTION = """\
The body is the whole list. Rules that name it go by it for transactions that are accepted after the event; they
get no new version. The same values again change nothing. `If-Match` is optional: "0" makes it only."""

blueprint = named_value_blueprint(
    NamedValueResource(
        kind="list",
        member="values",
        read_value=named_values.read_list,
        body=LIST_BODY,
        schema=ListSchema,
        page_schema=ListPageSchema,
        tag_description="Named lists that filters look into",
        listing_summary="List lists by name, without their values",
        put_description=PUT_DESCRIPTION,
        max_body_bytes=MAX_BODY_BYTES,
    )
)
add_entries(blueprint)
add_imports(blueprint)
