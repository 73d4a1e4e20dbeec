"""Random chained definitions without options: trees of conditions whose groupings share a field."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.oracle.builders.drafts import Branch, Draft, DraftTree, chained
from tests.oracle.generators.filters import random_filter
from tests.oracle.generators.measures import aggregate_of, random_grouping, random_window, with_limit
from tests.oracle.generators.named_values import perhaps_named_limit
from tests.oracle.generators.profile import Profile
from tests.oracle.generators.world import World
from tests.oracle.values.schema import AMOUNT, GROUPABLE

_LEVELS = 3
_SHARED = (
    *[("payeeId",)] * 5,
    *[("beneficiaryId",)] * 4,
    *[("paymentType",)] * 2,
    (AMOUNT,),
    ("beneficiaryId", "payeeId"),
)


def random_chain(rng: Random, world: World, profile: Profile) -> Draft:
    """Two to four conditions, rarely one, which may then group by nothing."""
    if rng.random() < 0.06:
        alone = _condition(rng, world, profile, random_grouping(rng), random_window(rng, world))
        return chained(alone if rng.random() < 0.5 else Branch("not", (alone,)))
    shared, window = rng.choice(_SHARED), random_window(rng, world)
    conditions = [
        _condition(rng, world, profile, _beside(rng, shared), _near(rng, world, window))
        for _ in range(rng.choice([2, 2, 3, 4]))
    ]
    return chained(_tree(rng, conditions, _LEVELS))


def _condition(rng: Random, world: World, profile: Profile, grouping: tuple[str, ...], window: int) -> Draft:
    drawn = with_limit(rng, world, grouping, aggregate_of(rng, profile), window)
    made = perhaps_named_limit(rng, profile, drawn)
    only = random_filter(rng, world, 2, profile.named, profile.tests) if rng.random() < 0.3 else None
    return replace(made, condition=only)


def _beside(rng: Random, shared: tuple[str, ...]) -> tuple[str, ...]:
    """A grouping of what all conditions share, and sometimes more."""
    chosen = {name for name in GROUPABLE if rng.random() < (0.05 if name == AMOUNT else 0.25)}
    return tuple(name for name in GROUPABLE if name in chosen or name in shared)


def _near(rng: Random, world: World, window: int) -> int:
    """The same window, a part of it, or one of its own."""
    style = rng.random()
    if style < 0.2:
        return window
    return max(1, int(window * rng.uniform(0.05, 1))) if style < 0.7 else random_window(rng, world)


def _tree(rng: Random, conditions: list[Draft], levels: int) -> DraftTree:
    """At most so many of `all`, `any` and `not` above a condition."""
    if len(conditions) == 1:
        if levels == 0 or rng.random() < 0.75:
            return conditions[0]
        return Branch("not", (_tree(rng, conditions, levels - 1),))
    if levels == 1:
        return Branch(rng.choice(["all", "any"]), tuple(conditions))
    if rng.random() < 0.1:
        return Branch("not", (_tree(rng, conditions, levels - 1),))
    cuts = sorted(rng.sample(range(1, len(conditions)), rng.randint(0, len(conditions) - 1)))
    parts = [conditions[one:other] for one, other in zip([0, *cuts], [*cuts, None], strict=True)]
    return Branch(rng.choice(["all", "any", "any"]), tuple(_tree(rng, part, levels - 1) for part in parts))
