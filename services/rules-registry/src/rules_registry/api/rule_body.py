"""The body of POST and PUT of a rule: a definition as specification section 2 has it, a name, and since when.

The grammar is the contracts'; this module adds what is the registry's own (`name`, `effectiveFrom`, and what becomes
of `ruleId` and `ruleState`), and says all of it in JSON Schema for OpenAPI.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rules_registry.api.rule_filter import FILTER_REF, PARAMETER
from tripline_contracts import event_type, spelling
from tripline_contracts.aggregate import COUNT_FIELDS
from tripline_contracts.event_type import EventType
from tripline_contracts.rule_definition import (
    MAX_WINDOW_SECONDS,
    InvalidDefinition,
    RuleDefinition,
    parse,
)
from tripline_http.errors import FieldError, invalid_input
from tripline_http.fields import DECIMAL_PATTERN, MAX_MS

BODY_SCHEMA = "RuleBody"
MAX_NAME = 200
# decimal(24,6) without its places.
MAX_WHOLE = 10**18 - 1
Json = dict[str, Any]

_OWN = ("name", "effectiveFrom", "ruleId")
_OLD_COUNT = "a count, as rules in the wild have it"
_STATE_HINT = (
    "expected ACTIVE: to pause or resume a rule POST to /v1/rules/{id}/pause or …/resume, "
    "to delete it send DELETE"
)


@dataclass(frozen=True, slots=True)
class RuleBody:
    """A body that was understood. `effective_from` is in ms."""

    name: str | None
    effective_from: int | None
    definition: RuleDefinition


def read_rule_body(body: Mapping[str, Any]) -> RuleBody:
    """Reads the body; raises the 422 problem that names every wrong field."""
    errors = list(_own_errors(body))
    definition: RuleDefinition | None = None
    try:
        definition = parse(
            {name: value for name, value in body.items() if name not in _OWN}, event_type.load()
        )
    except InvalidDefinition as invalid:
        errors += [_explained(problem.field, problem.message) for problem in invalid.problems]
    errors += _stricter_errors(body)
    if errors or definition is None:
        raise invalid_input(errors, "This is not a rule that can be published.")
    return RuleBody(body.get("name"), body.get("effectiveFrom"), definition)


def _own_errors(body: Mapping[str, Any]) -> Iterator[FieldError]:
    name, effective_from, rule_id = (body.get(field) for field in _OWN)
    if name is not None and not (isinstance(name, str) and 1 <= len(name) <= MAX_NAME):
        yield FieldError("name", f"expected a text of 1 to {MAX_NAME} characters")
    is_time = isinstance(effective_from, int) and not isinstance(effective_from, bool)
    if effective_from is not None and not (is_time and 0 <= effective_from <= MAX_MS):
        yield FieldError("effectiveFrom", f"expected ms since the epoch, 0 to {MAX_MS}")
    if rule_id is not None and spelling.whole_number(rule_id) is None:
        yield FieldError("ruleId", "expected an integer, or nothing: the registry gives ids")


def _stricter_errors(body: Mapping[str, Any]) -> Iterator[FieldError]:
    """What the contracts read in rule files, and a program should not send."""
    grouping = body.get("groupingKeyNames")
    if isinstance(grouping, str) and not spelling.bare(grouping):
        yield FieldError("groupingKeyNames", "expected a list; [] is one global group")
    function = body.get("aggregatorFunctionType")
    if function is not None and not isinstance(function, str):
        yield FieldError("aggregatorFunctionType", "expected a text")


def _explained(field: str, message: str) -> FieldError:
    return FieldError(field, _STATE_HINT if field == "ruleState" else message)


def rule_body_schema(event: EventType | None = None) -> Json:
    """The body in JSON Schema: one closed object for each way to say the aggregate and the window.

    The options are described with the two of our own way only: older systems don't know them, and a checker that
    walks through this takes as long as it is. They are read with the others as well.
    """
    declared = event or event_type.load()
    variants = [
        _variant(declared, title, aggregate, window)
        for title, aggregate in _aggregates(declared)
        for window in ("windowSeconds", "windowMinutes")
    ]
    return {
        "description": "A rule's definition with a name. Names of operators and quoted numbers are read too, and "
        "filter, firing, resetOnAlert and lateEvents beside windowMinutes and the articles' counts.",
        "anyOf": variants,
    }


def _aggregates(event: EventType) -> Iterator[tuple[str, Json]]:
    yield (
        "an aggregate of a field",
        {
            "aggregatorFunctionType": {"type": "string", "enum": ["SUM", "AVG", "MIN", "MAX"]},
            "aggregateFieldName": {"type": "string", "enum": list(event.measures)},
        },
    )
    yield (
        "a count",
        {
            "aggregatorFunctionType": {"type": "string", "enum": ["COUNT"]},
            "aggregateFieldName": {"type": "null"},
        },
    )
    yield (
        _OLD_COUNT,
        {
            "aggregatorFunctionType": {"enum": ["SUM", "COUNT", None]},
            "aggregateFieldName": {"type": "string", "enum": list(COUNT_FIELDS)},
        },
    )


def _variant(event: EventType, title: str, aggregate: Json, window: str) -> Json:
    most = MAX_WINDOW_SECONDS if window == "windowSeconds" else MAX_WINDOW_SECONDS // 60
    digits = len(str(most)) - 2
    properties = {
        **_common(event),
        **(_options() if window == "windowSeconds" and title != _OLD_COUNT else {}),
        **aggregate,
        window: {
            "type": ["integer", "string"],
            "minimum": 1,
            "maximum": most,
            "pattern": f"^[1-9][0-9]{{0,{digits}}}$",
            "description": "Back from each transaction; at most 400 days",
        },
    }
    required = ["groupingKeyNames", "limitOperatorType", "limit", window]
    # What may be null may be left out.
    required += [name for name, schema in aggregate.items() if schema.get("type") == "string"]
    return {
        "title": f"{title}, {window}",
        "type": "object",
        "properties": properties,
        "required": sorted(required),
        "additionalProperties": False,
    }


def _common(event: EventType) -> Json:
    return {
        "name": {
            "type": ["string", "null"],
            "minLength": 1,
            "maxLength": MAX_NAME,
            "pattern": "^[^\\u0000]*$",
        },
        "effectiveFrom": {
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": MAX_MS,
            "description": "Event time in ms from which the definition holds; now if left out",
        },
        "ruleId": {
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": MAX_WHOLE,
            "description": "Read and ignored: the registry gives ids",
        },
        "ruleState": {
            "enum": ["ACTIVE", None],
            "description": "Nothing but ACTIVE; pause and delete are requests",
        },
        "controlType": {"type": "null"},
        "unique": {"type": ["array", "null"], "maxItems": 0, "items": {"type": "string"}},
        "groupingKeyNames": {
            "type": "array",
            "uniqueItems": True,
            "items": {"type": "string", "enum": list(event.groupable)},
            "maxItems": len(event.groupable),
            "description": "A set of fields; [] is one global group",
        },
        "limitOperatorType": {
            "type": "string",
            "enum": [*spelling.OPERATORS.values(), *spelling.OPERATORS],
        },
        "limit": {
            "anyOf": [
                {
                    "type": ["string", "integer"],
                    "pattern": DECIMAL_PATTERN,
                    "minimum": -MAX_WHOLE,
                    "maximum": MAX_WHOLE,
                    "description": "decimal(24,6) as text, or a whole number",
                },
                PARAMETER,
            ]
        },
    }


def _options() -> Json:
    """What a rule may ask for beyond the articles' rules."""
    return {
        "filter": {"anyOf": [FILTER_REF, {"type": "null"}]},
        "firing": {
            "enum": ["every", "crossing", None],
            "description": "Each transaction for which the rule holds, or only where it begins to hold",
        },
        "resetOnAlert": {
            "type": ["boolean", "null"],
            "description": "After an alert only later transactions count for the rule and group",
        },
        "lateEvents": {
            "enum": ["evaluate", "store", None],
            "description": "Whether a late transaction is judged, or only counts for later ones",
        },
        "precision": {"enum": ["exact", None]},
    }
