"""Random aggregates, windows and groupings, with limits that lie where the history may reach them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.oracle.builders.drafts import WIDEST_SECONDS, Draft
from tests.oracle.generators.profile import Profile
from tests.oracle.generators.world import World
from tests.oracle.parsers.definitions import DISTINCT, FUNCTIONS, OPERATORS
from tests.oracle.parsers.measures import CHANGED, DEVIATION, SINCE_FIRST, SINCE_PREVIOUS
from tests.oracle.values.decimals import SCALE
from tests.oracle.values.schema import AMOUNT, GROUPABLE

LARGEST_LIMIT = 10**24 - 1
# Of payments, which have no positions.
_OF_ORDER = (SINCE_PREVIOUS, SINCE_FIRST, CHANGED)


def chance(rng: Random, share: float) -> bool:
    """Nothing is drawn where nothing can happen, so that other choices stay as they were."""
    return share > 0 and rng.random() < share


def random_grouping(rng: Random) -> tuple[str, ...]:
    """Of a rule of its own: any fields, or none."""
    style = rng.random()
    if style < 0.12:
        return ()
    if style < 0.3:
        return ("beneficiaryId", "payeeId")
    size = rng.choice([1, 1, 1, 2, 2, 3])
    weights = ["beneficiaryId", "payeeId", "paymentType"] * 3 + [AMOUNT]
    chosen: set[str] = set()
    while len(chosen) < size:
        chosen.add(rng.choice(weights))
    return tuple(name for name in GROUPABLE if name in chosen)


_STEPS = ("1", "10", "100", "0.5", "7.3", "0.000001", "250000", "9" * 18)


def perhaps_stepped(rng: Random, profile: Profile, draft: Draft) -> Draft:
    """The same, perhaps by amounts in steps too."""
    if not chance(rng, profile.stepped):
        return draft
    return in_steps(draft, random_step(rng))


def in_steps(draft: Draft, step: str) -> Draft:
    """The same by amounts in steps too."""
    grouping = tuple(name for name in GROUPABLE if name == AMOUNT or name in draft.grouping)
    return replace(draft, grouping=grouping, step=step)


def random_step(rng: Random) -> str:
    """From less than a payment differs by to more than any is."""
    return rng.choice(_STEPS)


def aggregate_of(rng: Random, profile: Profile) -> tuple[str, str]:
    """Function and field; the field may well be one that the rule groups by, which then has one value."""
    if chance(rng, profile.distinct):
        return DISTINCT, rng.choice(["beneficiaryId", "payeeId", *GROUPABLE])
    if chance(rng, profile.of_order):
        return rng.choice(_OF_ORDER), rng.choice(["beneficiaryId", "payeeId", *GROUPABLE])
    if chance(rng, profile.deviation):
        return DEVIATION, AMOUNT
    return rng.choice(FUNCTIONS), AMOUNT


def random_window(rng: Random, world: World) -> int:
    """Mostly in proportion to the history's pace, from less than a payment to most of them."""
    if rng.random() < 0.1:
        return 86_400 * rng.choice([1, 7, 30, 400])
    return min(max(1, int(world.pace * 10 ** rng.uniform(-0.3, 2.8) / 1000)), WIDEST_SECONDS)


def with_limit(
    rng: Random, world: World, grouping: tuple[str, ...], aggregate: tuple[str, str], window: int
) -> Draft:
    """A draft without options, its limit where the aggregate over that window may well be."""
    function, field = aggregate
    operator = rng.choices(list(OPERATORS.values()), weights=[3, 1, 4, 2, 6, 2])[0]
    groups = 1
    for name, size in (("payeeId", len(world.payees)), ("beneficiaryId", len(world.beneficiaries))):
        groups *= size if name in grouping else 1
    groups *= 2 if "paymentType" in grouping else 1
    groups *= len(world.amounts) if AMOUNT in grouping else 1
    expected = max(1, round(min(world.transactions, 1000 * window / world.pace) / groups))
    if function in (SINCE_PREVIOUS, SINCE_FIRST):
        limit = _time(rng, world.pace * groups, window)
    else:
        limit = _limit(rng, world, function, operator, expected)
    limit = min(max(limit, -LARGEST_LIMIT), LARGEST_LIMIT)
    return Draft(grouping, function, operator, limit, window, field=field)


def _time(rng: Random, pace: int, window: int) -> int:
    """Nothing, about what lies between two of a group, or a part of the window."""
    style = rng.random()
    if style < 0.2:
        return 0
    milliseconds = int(pace * rng.uniform(0.1, 3)) if style < 0.7 else int(window * 1000 * rng.random())
    return milliseconds * (SCALE // 1000)


def _limit(rng: Random, world: World, function: str, operator: str, expected: int) -> int:
    many = max(1, round(expected * rng.uniform(0.3, 1.2)))
    few = operator in {"=", "!=", "<", "<="}
    if function == DISTINCT:
        # Pools are small, and 0 is what a window has in which the field is always null.
        return SCALE * rng.choice([0, 1, 1, 2] if few or operator == ">" else [0, 1, 2, 2, 3])
    if function == CHANGED:
        return SCALE * rng.choice([0, 1, 1])
    if function == DEVIATION:
        # Of two it is what lies between them, by the root of two.
        apart = abs(rng.choice(world.amounts) - rng.choice(world.amounts))
        return rng.choice([0, round(apart / 2**0.5), apart // 2, apart // 3, -1])
    if function == "COUNT":
        return SCALE * rng.randint(1, min(4, many)) if few else SCALE * many - rng.choice([0, 0, SCALE // 2])
    if function == "SUM":
        return sum(rng.choice(world.amounts) for _ in range(rng.randint(1, 2) if few else many))
    if function == "AVG":
        total = rng.choice(world.amounts) + rng.choice(world.amounts)
        return rng.choice([total // 2, rng.choice(world.amounts)])
    return rng.choice(world.amounts) + rng.choice([0, 0, 0, 1, -1])
