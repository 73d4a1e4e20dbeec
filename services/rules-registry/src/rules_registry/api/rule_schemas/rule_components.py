"""The schemas of rules by their names in the OpenAPI document: they refer to each other."""

from __future__ import annotations

from typing import Any

from rules_registry.api.rule_schemas.condition_schema import (
    DEVIATING_SCHEMA,
    MEASURE_SCHEMA,
    bucketed_conditions_schema,
    conditions_schema,
    deviating_schema,
    measure_schema,
)
from rules_registry.api.rule_schemas.filter_schema import FILTER_SCHEMA, filter_schema
from rules_registry.api.rule_schemas.grouping_schemas import GROUPING_SCHEMA, grouping_schema
from rules_registry.api.rule_schemas.rule_body_schema import (
    BODY_SCHEMA,
    BUCKETED_CONDITIONS_SCHEMA,
    CONDITIONS_SCHEMA,
    rule_body_schema,
)
from tripline_contracts.event_type import EventType


def rule_components(event: EventType) -> dict[str, Any]:
    """What `#/components/schemas` has of the rules of that type."""
    deviating = {DEVIATING_SCHEMA: deviating_schema(event)} if event.measures else {}
    return {
        FILTER_SCHEMA: filter_schema(event),
        GROUPING_SCHEMA: grouping_schema(event),
        CONDITIONS_SCHEMA: conditions_schema(event),
        BUCKETED_CONDITIONS_SCHEMA: bucketed_conditions_schema(event),
        MEASURE_SCHEMA: measure_schema(event),
        **deviating,
        BODY_SCHEMA: rule_body_schema(event),
    }
