"""Filters as JSON, and the parser under the default event type."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings

from tripline_contracts import event_type_loader
from tripline_contracts.errors import InvalidDefinition, Problem
from tripline_contracts.filters import filter_parser
from tripline_contracts.filters.filter_parser import (
    Comparison,
    Filter,
)

# a deadline per example would measure how busy the machine is
UNHURRIED = settings(deadline=None)
TRANSACTION = event_type_loader.load()
CASH: dict[str, Any] = {"field": "paymentType", "operator": "=", "value": "CSH"}
IS_CASH = Comparison("paymentType", "=", "CSH")


def compared(field: object, operator: object, value: object) -> dict[str, object]:
    return {"field": field, "operator": operator, "value": value}


def listed(field: object, constants: object) -> dict[str, object]:
    return {"field": field, "in": constants}


def beside(field: object, operator: object, other: object) -> dict[str, object]:
    return {"field": field, "operator": operator, "otherField": other}


def at_night(**others: object) -> dict[str, object]:
    """From 22:00 to 06:00 in Berlin, or as others say: `From` for `from`, which is a word of Python."""
    said = {"zone": "Europe/Berlin", "from": "22:00", "to": "06:00"}
    return {"localTime": {**said, **{name.casefold(): value for name, value in others.items()}}}


def parse(data: object) -> Filter:
    return filter_parser.parse(data, TRANSACTION)


def problems(data: object) -> list[Problem]:
    with pytest.raises(InvalidDefinition) as refused:
        parse(data)
    assert refused.value.problems
    return refused.value.problems
