"""Random lists and parameters: where they are named, and what they change to."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.oracle.builders.drafts import Draft, conditions_of
from tests.oracle.builders.registry import Registry
from tests.oracle.generators.measures import LARGEST_LIMIT, chance
from tests.oracle.generators.profile import Profile
from tests.oracle.generators.world import World
from tests.oracle.values.decimals import plain
from tests.oracle.values.model import Json
from tests.oracle.values.schema import PAYMENT_TYPES

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


def perhaps_named_limit(rng: Random, profile: Profile, draft: Draft) -> Draft:
    """The same, perhaps with a parameter for its limit."""
    return replace(draft, parameter=_name(rng, _PARAMETERS)) if chance(rng, profile.named) else draft


def _name(rng: Random, names: tuple[str, ...]) -> str:
    return NEVER_SAID if rng.random() < 0.06 else rng.choice(names)


def first_changes(rng: Random, world: World, registry: Registry, profile: Profile, now: int) -> list[bytes]:
    """First values of some lists and parameters."""
    return [
        *[_a_list_change(rng, world, registry, profile, name, now) for name in _LISTS if rng.random() < 0.6],
        *[_parameter_change(rng, world, registry, name, now) for name in _PARAMETERS if rng.random() < 0.6],
    ]


def random_changes(rng: Random, world: World, registry: Registry, profile: Profile, now: int) -> list[bytes]:
    """Some changes at once, often of one name."""
    made: list[bytes] = []
    a_list, a_parameter = rng.choice(_LISTS), rng.choice(_PARAMETERS)
    for _ in range(rng.choice([1, 1, 2, 3])):
        if rng.random() < 0.5:
            made.append(_a_list_change(rng, world, registry, profile, a_list, now))
        else:
            made.append(_parameter_change(rng, world, registry, a_parameter, now))
    return made


def _a_list_change(
    rng: Random, world: World, registry: Registry, profile: Profile, name: str, now: int
) -> bytes:
    if chance(rng, profile.entries):
        return _entries_change(rng, world, registry, name, now)
    return _list_change(rng, world, registry, name, now)


def _entries_change(rng: Random, world: World, registry: Registry, name: str, now: int) -> bytes:
    """Some values come and go, whether the list had them or not; an end may be told, which decides nothing."""
    texts: list[Json] = [*sorted({*world.payees, *world.beneficiaries, *PAYMENT_TYPES, "nobody"})]
    chosen = rng.sample(texts, rng.randint(0, min(6, len(texts))))
    if rng.random() < 0.1:
        chosen = list({text: int(text) if text == "25" else text for text in map(str, chosen)}.values())
    come = rng.randint(0, len(chosen))
    until = rng.choice([None, None, 0, now, now + world.pace])
    return registry.change_entries(name, chosen[:come], chosen[come:], now, until)


def _list_change(rng: Random, world: World, registry: Registry, name: str, now: int) -> bytes:
    texts = sorted({*world.payees, *world.beneficiaries, *PAYMENT_TYPES, "nobody"})
    values: list[Json] = [*sorted(rng.sample(texts, rng.randint(0, len(texts))))]
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
