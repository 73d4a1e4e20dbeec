"""Random windows that end earlier, and limits that are measured, which the history may well reach."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.oracle.builders.drafts import WIDEST_SECONDS, Draft
from tests.oracle.generators.filters import random_filter
from tests.oracle.generators.measures import aggregate_of, chance, random_window
from tests.oracle.generators.named_values import parameter_reference
from tests.oracle.generators.profile import Profile
from tests.oracle.generators.world import World
from tests.oracle.parsers.measures import OF_ORDER
from tests.oracle.values.decimals import SCALE, plain
from tests.oracle.values.model import Json
from tests.oracle.values.schema import AMOUNT

_FACTORS = (SCALE, SCALE, SCALE, SCALE // 2, 2 * SCALE, 3 * SCALE, 1_300_000, SCALE - 1, 0, -SCALE)


def relative(
    rng: Random, world: World, profile: Profile, condition: Draft, grouping: tuple[str, ...]
) -> Draft:
    """The condition over a part of its window, mostly held against a measure of that grouping."""
    made = _excerpt(rng, world, condition) if rng.random() < 0.6 else condition
    if rng.random() < 0.3:
        return made
    function, field = aggregate_of(rng, profile)
    if rng.random() < 0.6 and "COUNT_DISTINCT" not in (function, made.function):
        function = rng.choice([made.function, "AVG"])
    # What was drawn in its place may have been of another field.
    field = field if function in ("COUNT_DISTINCT", "CHANGED") else AMOUNT
    window = made.window if rng.random() < 0.3 else random_window(rng, world)
    only = random_filter(rng, world, 2, profile.named, profile.tests) if rng.random() < 0.2 else None
    behind = Draft(grouping, function, ">", 0, window, condition=only, field=field)
    behind = _excerpt(rng, world, behind) if rng.random() < 0.6 else behind
    plus = rng.choice([0, 0, 0, 1, -1, rng.choice(world.amounts), -rng.choice(world.amounts)])
    in_deviations = function == "AVG" and rng.random() < 0.4
    return replace(
        made,
        parameter=None,
        behind=behind,
        deviations=_number(rng, profile, rng.choice(_FACTORS)) if in_deviations else None,
        times=_number(rng, profile, rng.choice(_FACTORS)),
        plus=_number(rng, profile, plus),
    )


def _number(rng: Random, profile: Profile, number: int) -> Json:
    return parameter_reference(rng) if chance(rng, profile.named / 3) else plain(number)


def _excerpt(rng: Random, world: World, draft: Draft) -> Draft:
    if draft.function in OF_ORDER:
        return replace(draft, least=rng.choice([0, 2, 3]))
    offset = 0
    if rng.random() < 0.6:
        pace = max(1, world.pace // 1000)
        offset = rng.choice([1, pace, 3 * pace, draft.window, random_window(rng, world)])
        offset = min(offset, WIDEST_SECONDS - 1)
    return replace(
        draft,
        window=min(draft.window, WIDEST_SECONDS - offset),
        offset=offset,
        current=offset > 0 or rng.random() < 0.4,
        least=rng.choice([1, 2, 2, 3, 5]) if rng.random() < 0.35 else 0,
    )
