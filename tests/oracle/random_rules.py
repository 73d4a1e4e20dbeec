"""Random definitions whose limits lie where the history may reach them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.oracle.definitions import REEVALUATE
from tests.oracle.drafts import (
    WIDEST_SECONDS,
    Draft,
    bucketed,
    conditions_of,
    definition_document,
    scaled_draft,
)
from tests.oracle.knobs import Knobs
from tests.oracle.random_chains import random_chain
from tests.oracle.random_filters import random_filter
from tests.oracle.random_measures import aggregate_of, chance, random_grouping, random_window, with_limit
from tests.oracle.random_names import perhaps_named_limit
from tests.oracle.random_world import World

__all__ = ["Draft", "changed_draft", "definition_document", "random_draft", "shared_draft", "widened_draft"]


def random_draft(rng: Random, world: World, knobs: Knobs) -> Draft:
    """A new rule."""
    if chance(rng, knobs.chained):
        # Buckets do not go with different values, of which several conditions have some nearly always.
        some = replace(knobs, distinct=0) if chance(rng, knobs.bucketed) else knobs
        return _with_options(rng, world, knobs, random_chain(rng, world, some))
    grouping, aggregate, window = random_grouping(rng), aggregate_of(rng, knobs), random_window(rng, world)
    drawn = with_limit(rng, world, grouping, aggregate, window)
    return _with_options(rng, world, knobs, perhaps_named_limit(rng, knobs, drawn))


def _with_options(rng: Random, world: World, knobs: Knobs, draft: Draft) -> Draft:
    chosen = replace(
        draft,
        condition=random_filter(rng, world, named=knobs.named) if chance(rng, knobs.filtered) else None,
        firing="crossing" if chance(rng, knobs.crossing) else "every",
        late_events="store" if chance(rng, knobs.stored_late) else "evaluate",
        reset_on_alert=chance(rng, knobs.reset_on_alert),
        cooldown=_cooldown(rng, world, draft.window) if chance(rng, knobs.cooldown) else None,
    )
    return _perhaps_bucketed(rng, world, knobs, _perhaps_reevaluated(rng, knobs, chosen))


def _perhaps_reevaluated(rng: Random, knobs: Knobs, chosen: Draft) -> Draft:
    if chosen.chain is not None:
        # Neither resets nor judging again, whatever is drawn.
        return replace(chosen, reset_on_alert=False)
    if not chance(rng, knobs.reevaluated):
        return chosen
    # Of the options only a filter goes with it.
    return replace(chosen, firing="every", late_events=REEVALUATE, reset_on_alert=False, cooldown=None)


def _perhaps_bucketed(rng: Random, world: World, knobs: Knobs, chosen: Draft) -> Draft:
    """Of few lengths, so that rules share buckets, or of a part of the window; an old one often keeps its own."""
    if not chance(rng, knobs.bucketed):
        return bucketed(chosen, None)
    late = "evaluate" if chosen.late_events == REEVALUATE else chosen.late_events
    plain = replace(chosen, reset_on_alert=False, late_events=late)
    if chosen.bucket is not None and rng.random() < 0.7:
        return bucketed(plain, chosen.bucket)
    if rng.random() < 0.4:
        return bucketed(plain, world.pace * rng.choice([2, 9, 30]) // 1000)
    narrowest = min(condition.window for condition in conditions_of(chosen))
    return bucketed(plain, max(1, int(narrowest / rng.choice([1, 2, 3, 4, 7.5, 20, 50]))))


def changed_draft(rng: Random, world: World, knobs: Knobs, old: Draft) -> Draft:
    """A next definition: another window, grouping, function or limit, other options, or all anew."""
    late = (knobs.stored_late, knobs.reevaluated)
    if chance(rng, max(knobs.filtered, knobs.crossing, knobs.reset_on_alert, knobs.cooldown, *late) / 2):
        return _with_options(rng, world, knobs, old)
    if old.bucket is not None and rng.random() < 0.3:
        return _same_buckets(rng, world, knobs, old)
    change = rng.random()
    if change < 0.4:
        factor = rng.choice([0.1, 0.5, 2, 10])
        return scaled_draft(old, factor)
    if change < 0.8 and old.chain is not None:
        return _same_options(old, random_chain(rng, world, knobs))
    if change < 0.6:
        drawn = with_limit(rng, world, random_grouping(rng), (old.function, old.field), old.window)
        return _same_options(old, perhaps_named_limit(rng, knobs, drawn))
    if change < 0.8:
        drawn = with_limit(rng, world, old.grouping, aggregate_of(rng, knobs), old.window)
        return _same_options(old, perhaps_named_limit(rng, knobs, drawn))
    return random_draft(rng, world, knobs)


def _same_buckets(rng: Random, world: World, knobs: Knobs, old: Draft) -> Draft:
    """Another function of the same field, another limit, another window: what of one rule others can use too."""
    scaled = scaled_draft(old, rng.choice([0.3, 0.7, 1, 1.2, 3, 20]))
    if scaled.chain is not None:
        return scaled
    function = old.function if old.function == "COUNT" else rng.choice(["SUM", "AVG", "MIN", "MAX"])
    drawn = with_limit(rng, world, old.grouping, (function, old.field), scaled.window)
    return _same_options(old, perhaps_named_limit(rng, knobs, drawn))


def shared_draft(rng: Random, world: World, knobs: Knobs, old: Draft) -> Draft:
    """Of another rule that has the same buckets."""
    firing = rng.choice([old.firing, "every"])
    return replace(_same_buckets(rng, world, knobs, old), firing=firing, cooldown=None)


def _same_options(old: Draft, new: Draft) -> Draft:
    options = replace(
        new,
        condition=old.condition,
        firing=old.firing,
        late_events=old.late_events,
        reset_on_alert=old.reset_on_alert,
        cooldown=old.cooldown,
    )
    return bucketed(options, old.bucket)


def widened_draft(rng: Random, old: Draft) -> Draft:
    """The same rule with a wider window."""
    return scaled_draft(old, rng.choice([2, 5, 20]), 1)


def _cooldown(rng: Random, world: World, window: int) -> int:
    """From a second on, of a few payments, or of a few windows, which may be longer than history is kept."""
    style = rng.random()
    if style < 0.1:
        return 1
    seconds = (
        world.pace * 10 ** rng.uniform(0, 1.7) / 1000 if style < 0.6 else window * rng.choice([0.5, 1, 3, 6])
    )
    return min(max(1, int(seconds)), WIDEST_SECONDS)
