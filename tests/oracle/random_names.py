"""Random lists and parameters: where they are named, and what they change to."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

from tests.oracle.decimals import plain
from tests.oracle.drafts import Draft, conditions_of
from tests.oracle.knobs import Knobs
from tests.oracle.model import Json
from tests.oracle.random_measures import LARGEST_LIMIT, chance
from tests.oracle.random_world import World
from tests.oracle.registry import Registry
from tests.oracle.schema import PAYMENT_TYPES

_LISTS = ("watched", "Watched", "l" * 64)
_PARAMETERS = ("threshold", "t_2", "watched")
# Few, so that several rules name one; nothing ever says what the last one is.
NEVER_SAID = "never-said"


def list_reference(rng: Random) -> Json:
    """A list by its name."""
    return {"list": _name(rng, _LISTS)}


def parameter_reference(rng: Random) -> Json:
    """A parameter by its name."""
    return {"parameter": _name(rng, _PARAMETERS)}


def perhaps_named_limit(rng: Random, knobs: Knobs, draft: Draft) -> Draft:
    """The same, perhaps with a parameter for its limit."""
    return replace(draft, parameter=_name(rng, _PARAMETERS)) if chance(rng, knobs.named) else draft


def _name(rng: Random, names: tuple[str, ...]) -> str:
    return NEVER_SAID if rng.random() < 0.06 else rng.choice(names)


def first_changes(rng: Random, world: World, registry: Registry, now: int) -> list[bytes]:
    """What some names are to begin with."""
    return [
        *[_list_change(rng, world, registry, name, now) for name in _LISTS if rng.random() < 0.6],
        *[_parameter_change(rng, world, registry, name, now) for name in _PARAMETERS if rng.random() < 0.6],
    ]


def random_changes(rng: Random, world: World, registry: Registry, now: int) -> list[bytes]:
    """Some changes at once, often of one name."""
    made: list[bytes] = []
    a_list, a_parameter = rng.choice(_LISTS), rng.choice(_PARAMETERS)
    for _ in range(rng.choice([1, 1, 2, 3])):
        if rng.random() < 0.5:
            made.append(_list_change(rng, world, registry, a_list, now))
        else:
            made.append(_parameter_change(rng, world, registry, a_parameter, now))
    return made


def _list_change(rng: Random, world: World, registry: Registry, name: str, now: int) -> bytes:
    known = sorted({*world.payees, *world.beneficiaries, *PAYMENT_TYPES, "nobody"})
    values: list[Json] = [*sorted(rng.sample(known, rng.randint(0, len(known))))]
    if rng.random() < 0.1:
        # As the registry never writes them, but they are read as the set that they are.
        values += [int(text) for text in ("25", "12", "0") if text in values]
        rng.shuffle(values)
    return registry.change_list(name, values, now)


def _parameter_change(rng: Random, world: World, registry: Registry, name: str, now: int) -> bytes:
    """An amount, or about what a limit would be that it stands for."""
    limits = [
        condition.limit
        for rule in registry.alive()
        for condition in conditions_of(rule.draft)
        if condition.parameter == name
    ]
    value = rng.choice(
        [rng.choice(limits), rng.choice(limits), *world.amounts[:2]] if limits else world.amounts
    )
    value = rng.choice([value, value, value + rng.choice([1, -1]), value // 2, 2 * value])
    return registry.change_parameter(name, plain(min(max(value, -LARGEST_LIMIT), LARGEST_LIMIT)), now)


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
