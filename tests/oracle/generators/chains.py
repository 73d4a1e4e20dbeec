"""Random chained definitions without options: trees of conditions whose groupings share a field."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.oracle.builders.drafts import Branch, Draft, DraftTree, chained
from tests.oracle.generators.filters import random_filter
from tests.oracle.generators.measures import (
    aggregate_of,
    chance,
    in_steps,
    random_grouping,
    random_step,
    random_window,
    with_limit,
)
from tests.oracle.generators.named_values import parameter_reference, perhaps_named_limit
from tests.oracle.generators.profile import Profile
from tests.oracle.generators.relative_limits import relative
from tests.oracle.generators.world import World
from tests.oracle.values.decimals import plain, scaled
from tests.oracle.values.model import Json
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
    if rng.random() < (0.4 if profile.relative else 0.06):
        alone = _condition(rng, world, profile, random_grouping(rng), random_window(rng, world))
        if chance(rng, profile.stepped):
            alone = _in_steps(rng, alone, random_step(rng), everywhere=True)
        return chained(alone if rng.random() < 0.5 else _joined(rng, profile, "not", (alone,)))
    shared, window = rng.choice(_SHARED), random_window(rng, world)
    conditions = [
        _condition(rng, world, profile, _beside(rng, shared), _near(rng, world, window))
        for _ in range(rng.choice([2, 2, 3, 4]))
    ]
    if chance(rng, profile.stepped):
        # of one step, and where it is all that they share of all of them
        step, everywhere = random_step(rng), shared == (AMOUNT,) or rng.random() < 0.3
        conditions = [_in_steps(rng, one, step, everywhere) for one in conditions]
    return chained(_tree(rng, profile, conditions, _LEVELS))


def _condition(rng: Random, world: World, profile: Profile, grouping: tuple[str, ...], window: int) -> Draft:
    drawn = with_limit(rng, world, grouping, aggregate_of(rng, profile), window)
    made = perhaps_named_limit(rng, profile, drawn)
    only = random_filter(rng, world, 2, profile.named, profile.tests) if rng.random() < 0.3 else None
    filtered = replace(made, condition=only)
    if not chance(rng, profile.relative):
        return filtered
    # One global group has no wider ones beside it.
    behind = _beside(rng, grouping) if grouping and rng.random() < 0.3 else grouping
    return relative(rng, world, profile, filtered, behind)


def _in_steps(rng: Random, condition: Draft, step: str, everywhere: bool) -> Draft:
    """The condition, and what is behind its limit, by amounts in steps: wherever they group by amounts at least."""
    if everywhere or AMOUNT in condition.grouping or rng.random() < 0.5:
        condition = in_steps(condition, step)
    behind = condition.behind
    if behind is None or not (everywhere or AMOUNT in behind.grouping or rng.random() < 0.3):
        return condition
    return replace(condition, behind=in_steps(behind, step))


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


def _tree(rng: Random, profile: Profile, conditions: list[Draft], levels: int) -> DraftTree:
    """At most so many of `all`, `any`, `not` and `weighted` above a condition."""
    if len(conditions) == 1:
        if levels == 0 or rng.random() < 0.75:
            return conditions[0]
        return _joined(rng, profile, "not", (_tree(rng, profile, conditions, levels - 1),))
    if levels == 1:
        return _joined(rng, profile, rng.choice(["all", "any"]), tuple(conditions))
    if rng.random() < 0.1:
        return _joined(rng, profile, "not", (_tree(rng, profile, conditions, levels - 1),))
    cuts = sorted(rng.sample(range(1, len(conditions)), rng.randint(0, len(conditions) - 1)))
    parts = [conditions[one:other] for one, other in zip([0, *cuts], [*cuts, None], strict=True)]
    kind = rng.choice(["all", "any", "any"])
    return _joined(rng, profile, kind, tuple(_tree(rng, profile, part, levels - 1) for part in parts))


def _joined(rng: Random, profile: Profile, kind: str, parts: tuple[DraftTree, ...]) -> Branch:
    """Of that kind, or weighted: with sums that are reached now and then, and ends of what a weight may be."""
    if not chance(rng, profile.weighted):
        return Branch(kind, parts)
    weights = [rng.choice(_WEIGHTS) for _ in parts]
    half = scaled(rng.choice(_WEIGHTS)) // 2
    at_least = plain(scaled(rng.choice(weights)) // 2 + rng.choice([0, half, half]))
    numbers: list[Json] = [*weights, at_least]
    named = [parameter_reference(rng) if chance(rng, profile.named / 4) else number for number in numbers]
    return Branch("weighted", parts, tuple(named[:-1]), named[-1])


_WEIGHTS = (*["30", "30", "40", "60", "10.5", "-20", "0"] * 3, "0.000001", "9" * 18, "-" + "9" * 18)
