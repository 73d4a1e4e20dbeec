"""The members that say an aggregate, in JSON Schema for OpenAPI: a form for each kind of them."""

from __future__ import annotations

from typing import Any

from tripline_contracts.event_type import EventType
from tripline_contracts.rules.aggregate import COUNT_FIELDS, SINCE

Json = dict[str, Any]


def of_a_field(event: EventType) -> Json:
    """The members of an aggregate of a measure."""
    return {
        "aggregatorFunctionType": {"type": "string", "enum": ["SUM", "AVG", "MIN", "MAX"]},
        "aggregateFieldName": {"type": "string", "enum": list(event.measures)},
    }


def count() -> Json:
    """The members of a count of transactions."""
    return {
        "aggregatorFunctionType": {"type": "string", "enum": ["COUNT"]},
        "aggregateFieldName": {"type": "null"},
    }


def old_count() -> Json:
    return {
        "aggregatorFunctionType": {"enum": ["SUM", "COUNT", None]},
        "aggregateFieldName": {"type": "string", "enum": list(COUNT_FIELDS)},
    }


def different_values(event: EventType) -> Json:
    """The members of a count of different values."""
    return {
        "aggregatorFunctionType": {"type": "string", "enum": ["COUNT_DISTINCT"]},
        "aggregateFieldName": {
            "type": "string",
            "enum": list(event.groupable),
            "description": "How many different values it has in the window; null is none",
        },
    }


def times_since() -> Json:
    """The members of a time since another transaction."""
    return {
        "aggregatorFunctionType": {
            "type": "string",
            "enum": list(SINCE),
            "description": "Seconds from the transaction before, or from the oldest in the window",
        },
        "aggregateFieldName": {"type": "null"},
    }


def deviation(event: EventType) -> Json:
    """The members of a standard deviation."""
    return {
        "aggregatorFunctionType": {
            "type": "string",
            "enum": ["STDDEV"],
            "description": "Of the sample; no value below two transactions",
        },
        "aggregateFieldName": {"type": "string", "enum": list(event.measures)},
    }


def changed(event: EventType) -> Json:
    """The members of whether a field has changed."""
    return {
        "aggregatorFunctionType": {"type": "string", "enum": ["CHANGED"]},
        "aggregateFieldName": {
            "type": "string",
            "enum": list(event.groupable),
            "description": "1 where it has another value than in the transaction before, else 0; null is a value",
        },
    }


def speed(event: EventType) -> Json:
    """The members of a speed between positions."""
    return {
        "aggregatorFunctionType": {"type": "string", "enum": ["SPEED_KMH"]},
        "aggregateFieldName": {
            "type": "string",
            "enum": list(event.positions),
            "description": "km/h from the position of the transaction before; no value where either is null",
        },
    }
