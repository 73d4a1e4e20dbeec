"""Malformed lists and parameters: changes that cannot be read, references that name the wrong kind."""

from __future__ import annotations

import json

from tests.oracle.builders.registry import Registry
from tests.oracle.values.model import Json

_WRONG_NAMES: tuple[Json, ...] = ("", "1a", "-a", "a b", "a.b", "é", "a\n", "a" * 65, None, 5, ["a"])
_WRONG_LISTS: tuple[Json, ...] = (None, "25", {}, [""], [None], ["25", True], [["25"]], ["z" * 65], ["a\0b"])
_WRONG_NUMBERS: tuple[Json, ...] = (None, "", "1e", "+1", " 1", "0.0000001", "1e18", "NaN", True, [], {})


def wrong_changes(now: int) -> list[dict[str, Json]]:
    """Changes that cannot be read, each wrong in one way."""
    a_list = json.loads(Registry().change_list("watched", ["25"], now))
    a_parameter = json.loads(Registry().change_parameter("watched", "1", now))
    return [
        *[{**event, "name": name} for event in (a_list, a_parameter) for name in _WRONG_NAMES],
        *[{**a_list, "values": values} for values in _WRONG_LISTS],
        *[{**a_parameter, "value": number} for number in _WRONG_NUMBERS],
    ]


_WRONG_ENTRIES: tuple[dict[str, Json], ...] = (
    {"added": None},
    {"removed": None},
    {"added": {"value": "25"}},
    {"added": ["25"]},
    {"added": [{}]},
    {"added": [{"value": None}]},
    {"added": [{"value": ""}]},
    {"added": [{"value": "z" * 65}]},
    {"added": [{"value": "25", "until": "1"}]},
    {"added": [{"value": "25", "until": -1}]},
    {"added": [{"value": "25", "until": 253_402_300_800_000}]},
    {"added": [{"value": "25", "until": True}]},
    {"removed": [{"value": "25"}]},
    {"removed": ["a\0b"]},
    {"removed": [None]},
    {"removed": ["25"], "added": [{"value": "12"}, {"value": 25}]},
    {"name": "1a"},
)


def wrong_entries(now: int) -> list[dict[str, Json]]:
    """Changes of entries that cannot be read, each wrong in one way."""
    change = json.loads(Registry().change_entries("watched", ["25"], ["12"], now))
    return [{**change, **wrong} for wrong in _WRONG_ENTRIES]


_WRONG_FILTERS: tuple[Json, ...] = (
    {"field": "payeeId", "operator": "=", "value": {"parameter": "watched"}},
    {"field": "paymentType", "operator": "=", "value": {"list": "watched"}},
    {"field": "eventTime", "operator": ">", "value": {"parameter": "watched"}},
    {"field": "ingestionTimestamp", "in": {"list": "watched"}},
    {"field": "paymentAmount", "in": {"list": "watched"}},
    {"field": "paymentAmount", "in": {"parameter": "watched"}},
    {"field": "paymentAmount", "in": [{"parameter": "watched"}]},
    {"field": "paymentAmount", "operator": ">", "value": {"list": "watched"}},
    {"field": "payeeId", "in": ["25", {"list": "watched"}]},
    {"field": "payeeId", "in": {"list": "a b"}},
    {"field": "payeeId", "in": {"list": None}},
    {"field": "payeeId", "in": {}},
    {"field": "payeeId", "in": {"list": "watched", "name": "watched"}},
)
_WRONG_LIMITS: tuple[Json, ...] = (
    {"list": "watched"},
    {"parameter": "1"},
    {"parameter": None},
    {},
    ["watched"],
)


def wrong_references() -> list[dict[str, Json]]:
    """Members of a definition that name what cannot be named there."""
    return [
        *[{"filter": wrong} for wrong in _WRONG_FILTERS],
        *[{"limit": wrong} for wrong in _WRONG_LIMITS],
    ]
