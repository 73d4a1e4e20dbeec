"""Reading records of rule-status.v1: whatever bytes come, a value or `InvalidStatus`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from rules_registry.errors import InvalidStatus

MAX_INT = 2_147_483_647
MAX_POSITION = 9_007_199_254_740_991
MAX_MS = 253_402_300_799_999


def json_object(value: bytes | None) -> Mapping[str, object]:
    """The object that a record's value holds. Raises `InvalidStatus`."""
    try:
        data = json.loads(value or b"")
    except (ValueError, RecursionError) as error:
        raise InvalidStatus("not JSON") from error
    if not isinstance(data, dict):
        raise InvalidStatus("not an object")
    return data


def integer(data: Mapping[str, object], name: str, low: int, high: int) -> int:
    """The integer under this name. Raises `InvalidStatus` unless it is there and within the bounds, both included."""
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InvalidStatus(f"{name} is not an integer from {low} to {high}")
    return value
