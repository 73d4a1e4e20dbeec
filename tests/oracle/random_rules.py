"""Random definitions whose limits lie where the history may reach them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from tests.oracle.decimals import SCALE, plain
from tests.oracle.definitions import DISTINCT, FUNCTIONS, OPERATORS, REEVALUATE
from tests.oracle.knobs import Knobs
from tests.oracle.model import Json
from tests.oracle.random_filters import random_filter
from tests.oracle.random_world import World
from tests.oracle.schema import AMOUNT, GROUPABLE

_LARGEST_LIMIT = 10**24 - 1
_WIDEST_SECONDS = 400 * 86_400


@dataclass(frozen=True, slots=True)
class Draft:
    """A definition before it is written down; times in seconds, limit in millionths, filter normalised.

    `field` is what is aggregated, unless that is nothing because the function is COUNT.
    """

    grouping: tuple[str, ...]
    function: str
    operator: str
    limit: int
    window: int
    condition: Json = None
    firing: str = "every"
    late_events: str = "evaluate"
    reset_on_alert: bool = False
    field: str = AMOUNT
    cooldown: int | None = None


def definition_document(draft: Draft) -> dict[str, Json]:
    """The definition as it stands in a rule event; filter, reset, cooldown only where there is one."""
    more: dict[str, Json] = {}
    if draft.condition is not None:
        more["filter"] = draft.condition
    if draft.reset_on_alert:
        more["resetOnAlert"] = True
    if draft.cooldown is not None:
        more["cooldownSeconds"] = draft.cooldown
    return {
        "groupingKeyNames": list(draft.grouping),
        "aggregatorFunctionType": draft.function,
        "aggregateFieldName": None if draft.function == "COUNT" else draft.field,
        "limitOperatorType": draft.operator,
        "limit": plain(draft.limit),
        "windowSeconds": draft.window,
        "firing": draft.firing,
        "lateEvents": draft.late_events,
        "precision": "exact",
        **more,
    }


def random_draft(rng: Random, world: World, knobs: Knobs) -> Draft:
    """A new rule."""
    plain_draft = _with_limit(rng, world, _grouping(rng), _aggregate(rng, knobs), _window(rng, world))
    return _with_options(rng, world, knobs, plain_draft)


def _aggregate(rng: Random, knobs: Knobs) -> tuple[str, str]:
    """Function and field; the field may well be one that the rule groups by, which then has one value."""
    if _chance(rng, knobs.distinct):
        return DISTINCT, rng.choice(["beneficiaryId", "payeeId", *GROUPABLE])
    return rng.choice(FUNCTIONS), AMOUNT


def _with_options(rng: Random, world: World, knobs: Knobs, draft: Draft) -> Draft:
    chosen = replace(
        draft,
        condition=random_filter(rng, world) if _chance(rng, knobs.filtered) else None,
        firing="crossing" if _chance(rng, knobs.crossing) else "every",
        late_events="store" if _chance(rng, knobs.stored_late) else "evaluate",
        reset_on_alert=_chance(rng, knobs.reset_on_alert),
        cooldown=_cooldown(rng, world, draft.window) if _chance(rng, knobs.cooldown) else None,
    )
    if not _chance(rng, knobs.reevaluated):
        return chosen
    # Of the options only a filter goes with it.
    return replace(chosen, firing="every", late_events=REEVALUATE, reset_on_alert=False, cooldown=None)


def _chance(rng: Random, share: float) -> bool:
    """Nothing is drawn where nothing can happen, so that other choices stay as they were."""
    return share > 0 and rng.random() < share


def changed_draft(rng: Random, world: World, knobs: Knobs, old: Draft) -> Draft:
    """A next definition: another window, grouping, function or limit, other options, or all anew."""
    late = (knobs.stored_late, knobs.reevaluated)
    if _chance(rng, max(knobs.filtered, knobs.crossing, knobs.reset_on_alert, knobs.cooldown, *late) / 2):
        return _with_options(rng, world, knobs, old)
    change = rng.random()
    if change < 0.4:
        factor = rng.choice([0.1, 0.5, 2, 10])
        window = min(max(1, int(old.window * factor)), _WIDEST_SECONDS)
        return replace(old, window=window)
    if change < 0.6:
        return _same_options(
            old, _with_limit(rng, world, _grouping(rng), (old.function, old.field), old.window)
        )
    if change < 0.8:
        return _same_options(old, _with_limit(rng, world, old.grouping, _aggregate(rng, knobs), old.window))
    return random_draft(rng, world, knobs)


def _same_options(old: Draft, new: Draft) -> Draft:
    return replace(
        new,
        condition=old.condition,
        firing=old.firing,
        late_events=old.late_events,
        reset_on_alert=old.reset_on_alert,
        cooldown=old.cooldown,
    )


def widened_draft(rng: Random, old: Draft) -> Draft:
    """The same rule with a wider window."""
    window = min(int(old.window * rng.choice([2, 5, 20])) + 1, _WIDEST_SECONDS)
    return replace(old, window=window)


def _grouping(rng: Random) -> tuple[str, ...]:
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


def _window(rng: Random, world: World) -> int:
    if rng.random() < 0.1:
        return 86_400 * rng.choice([1, 7, 30, 400])
    return min(max(1, int(world.pace * 10 ** rng.uniform(-0.3, 2.8) / 1000)), _WIDEST_SECONDS)


def _cooldown(rng: Random, world: World, window: int) -> int:
    """From a second on, of a few payments, or of a few windows, which may be longer than history is kept."""
    style = rng.random()
    if style < 0.1:
        return 1
    seconds = (
        world.pace * 10 ** rng.uniform(0, 1.7) / 1000 if style < 0.6 else window * rng.choice([0.5, 1, 3, 6])
    )
    return min(max(1, int(seconds)), _WIDEST_SECONDS)


def _with_limit(
    rng: Random, world: World, grouping: tuple[str, ...], aggregate: tuple[str, str], window: int
) -> Draft:
    function, field = aggregate
    operator = rng.choices(list(OPERATORS.values()), weights=[3, 1, 4, 2, 6, 2])[0]
    groups = 1
    for name, size in (("payeeId", len(world.payees)), ("beneficiaryId", len(world.beneficiaries))):
        groups *= size if name in grouping else 1
    groups *= 2 if "paymentType" in grouping else 1
    groups *= len(world.amounts) if AMOUNT in grouping else 1
    expected = max(1, round(min(world.transactions, 1000 * window / world.pace) / groups))
    limit = _limit(rng, world, function, operator, expected)
    limit = min(max(limit, -_LARGEST_LIMIT), _LARGEST_LIMIT)
    return Draft(grouping, function, operator, limit, window, field=field)


def _limit(rng: Random, world: World, function: str, operator: str, expected: int) -> int:
    many = max(1, round(expected * rng.uniform(0.3, 1.2)))
    few = operator in {"=", "!=", "<", "<="}
    if function == DISTINCT:
        # Pools are small, and 0 is what a window has in which the field is always null.
        return SCALE * rng.choice([0, 1, 1, 2] if few or operator == ">" else [0, 1, 2, 2, 3])
    if function == "COUNT":
        return SCALE * rng.randint(1, min(4, many)) if few else SCALE * many - rng.choice([0, 0, SCALE // 2])
    if function == "SUM":
        return sum(rng.choice(world.amounts) for _ in range(rng.randint(1, 2) if few else many))
    if function == "AVG":
        total = rng.choice(world.amounts) + rng.choice(world.amounts)
        return rng.choice([total // 2, rng.choice(world.amounts)])
    return rng.choice(world.amounts) + rng.choice([0, 0, 0, 1, -1])
