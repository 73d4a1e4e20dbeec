"""Chained definitions that are refused, made of a plain one."""

from __future__ import annotations

from random import Random

from tests.oracle.parsers.measures import MEMBERS
from tests.oracle.values.model import Json


def wrong_chain(rng: Random, definition: dict[str, Json]) -> Json:
    """One of them."""
    return rng.choice(wrong_chains(definition))


def wrong_chains(definition: dict[str, Json]) -> list[Json]:
    """Each of them wrong in one way; the definition has all of a condition's members and may have options."""
    condition: dict[str, Json] = {
        name: value for name, value in definition.items() if name in MEMBERS and name != "unique"
    }
    by_payee: dict[str, Json] = {**condition, "groupingKeyNames": ["payeeId"]}
    by_none: dict[str, Json] = {**condition, "groupingKeyNames": []}
    by_type: dict[str, Json] = {**condition, "groupingKeyNames": ["paymentType"]}
    trees: list[Json] = [
        [],
        {},
        {"all": []},
        {"any": {}},
        {"not": [by_payee]},
        {"none": [by_payee]},
        {"all": [by_payee], "any": [by_payee]},
        {"all": [by_payee, by_type]},
        {"any": [by_payee, by_none]},
        {"any": [by_none, by_none]},
        {"all": [by_payee] * 17},
        _deep(by_payee, 6),
        {**by_payee, "resetOnAlert": True},
        {**by_payee, "lateEvents": "evaluate"},
        {**by_payee, "windowSeconds": 0},
        {**by_payee, "filter": {"any": []}},
        {**by_payee, "aggregatorFunctionType": "COUNT_WITH_RESET_FLINK"},
        {name: value for name, value in by_payee.items() if name != "limit"},
    ]
    options: dict[str, Json] = {
        "firing": "every",
        "lateEvents": "evaluate",
        "precision": "exact",
    }
    beside: list[dict[str, Json]] = [
        {"limit": "1"},
        {"groupingKeyNames": ["payeeId"]},
        {"windowMinutes": 1},
        {"resetOnAlert": True},
        {"lateEvents": "reevaluate"},
    ]
    wrong: list[Json] = [{"conditions": tree, **options} for tree in trees]
    return wrong + [{"conditions": {"all": [by_payee]}, **options, **more} for more in beside]


def _deep(condition: Json, levels: int) -> Json:
    """So many levels above a condition, which is a level itself."""
    return condition if levels == 0 else {"not": _deep(condition, levels - 1)}
