"""Random filters, normalised, over what a history is made of."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.oracle.generators.filter_tests import random_test
from tests.oracle.generators.measures import chance
from tests.oracle.generators.named_values import list_reference, parameter_reference
from tests.oracle.generators.world import World
from tests.oracle.values.decimals import plain, scaled
from tests.oracle.values.model import Json
from tests.oracle.values.schema import AMOUNT, EVENT_TIME, INGESTION, LAST_TIME, PAYMENT_TYPES

_FIELDS = (
    *["payeeId", "beneficiaryId"] * 3,
    *["paymentType", AMOUNT] * 3,
    *[EVENT_TIME, INGESTION] * 2,
)
_ORDERED = ("=", "!=", ">=", "<=", ">", "<")
_LARGEST = 10**24 - 1


def random_filter(rng: Random, world: World, depth: int = 3, named: float = 0, tests: float = 0) -> Json:
    """A tree of at most that depth; many pass some of the transactions and not others.

    Such a share of its comparisons is with a list or a parameter, and such a share no comparison with constants.
    """
    style = rng.random()
    if depth == 1 or style < 0.4:
        if chance(rng, tests):
            return random_test(rng, world)
        return _named_leaf(rng) if chance(rng, named) else _leaf(rng, world)
    if style < 0.6:
        return {"not": random_filter(rng, world, depth - 1, named, tests)}
    parts = [random_filter(rng, world, depth - 1, named, tests) for _ in range(rng.choice([1, 2, 2, 3]))]
    return {rng.choice(["all", "any"]): parts}


def _named_leaf(rng: Random) -> Json:
    field = rng.choice(
        ["payeeId", "payeeId", "beneficiaryId", "beneficiaryId", "paymentType", AMOUNT, AMOUNT]
    )
    if field == AMOUNT:
        return {"field": field, "operator": rng.choice(_ORDERED), "value": parameter_reference(rng)}
    return {"field": field, "in": list_reference(rng)}


def _leaf(rng: Random, world: World) -> Json:
    field = rng.choice(_FIELDS)
    if rng.random() < 0.25:
        constants = {_constant(rng, world, field) for _ in range(rng.randint(1, 3))}
        # A normalised list is in the order of its values and repeats none.
        in_order = sorted(constants, key=lambda constant: scaled(constant) if field == AMOUNT else constant)
        return {"field": field, "in": [*in_order]}
    ordered = field in {AMOUNT, EVENT_TIME, INGESTION}
    operator = rng.choices(_ORDERED, [1, 2, 3, 3, 3, 3])[0] if ordered else rng.choice(["=", "!="])
    return {"field": field, "operator": operator, "value": _constant(rng, world, field)}


def _constant(rng: Random, world: World, field: str) -> Any:
    if field == AMOUNT:
        near = rng.choice(world.amounts) + rng.choice([0, 0, 0, 1, -1])
        return plain(min(max(near, -_LARGEST), _LARGEST))
    if field in {EVENT_TIME, INGESTION}:
        return min(world.start + rng.randint(0, world.transactions * world.pace), LAST_TIME)
    if field == "paymentType":
        return rng.choice(PAYMENT_TYPES)
    ids = world.payees if field == "payeeId" else world.beneficiaries
    return rng.choice([*ids, *ids, "nobody"])
