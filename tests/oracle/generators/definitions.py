"""Random definitions whose limits lie where the history may reach them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.oracle.builders.drafts import (
    WIDEST_SECONDS,
    Draft,
    bucketed,
    conditions_of,
    scaled_draft,
)
from tests.oracle.generators.chains import random_chain
from tests.oracle.generators.filters import random_filter
from tests.oracle.generators.measures import (
    aggregate_of,
    chance,
    perhaps_stepped,
    random_grouping,
    random_window,
    with_limit,
)
from tests.oracle.generators.named_values import perhaps_named_limit
from tests.oracle.generators.parties import perhaps_of_party
from tests.oracle.generators.profile import Profile
from tests.oracle.generators.world import World
from tests.oracle.parsers.definitions import REEVALUATE
from tests.oracle.parsers.measures import DEVIATION, OF_ORDER


def random_draft(rng: Random, world: World, profile: Profile) -> Draft:
    """A new rule."""
    return perhaps_of_party(rng, profile, _random_draft(rng, world, profile))


def _random_draft(rng: Random, world: World, profile: Profile) -> Draft:
    if chance(rng, profile.chained):
        # Buckets do not go with different values, of which several conditions have some nearly always.
        some = (
            replace(profile, distinct=0, of_order=0, deviation=0)
            if chance(rng, profile.bucketed)
            else profile
        )
        return _with_options(rng, world, profile, random_chain(rng, world, some))
    grouping, aggregate, window = random_grouping(rng), aggregate_of(rng, profile), random_window(rng, world)
    drawn = perhaps_stepped(rng, profile, with_limit(rng, world, grouping, aggregate, window))
    return _with_options(rng, world, profile, perhaps_named_limit(rng, profile, drawn))


def _with_options(rng: Random, world: World, profile: Profile, draft: Draft) -> Draft:
    chosen = replace(
        draft,
        condition=random_filter(rng, world, named=profile.named, tests=profile.tests)
        if chance(rng, profile.filtered)
        else None,
        firing="crossing" if chance(rng, profile.crossing) else "every",
        late_events="store" if chance(rng, profile.stored_late) else "evaluate",
        reset_on_alert=chance(rng, profile.reset_on_alert),
        cooldown=_cooldown(rng, world, draft.window) if chance(rng, profile.cooldown) else None,
    )
    return _perhaps_bucketed(rng, world, profile, _perhaps_reevaluated(rng, profile, chosen))


def _perhaps_reevaluated(rng: Random, profile: Profile, chosen: Draft) -> Draft:
    if chosen.chain is not None:
        # Neither resets nor judging again, whatever is drawn.
        return replace(chosen, reset_on_alert=False)
    if not chance(rng, profile.reevaluated):
        return _judged_once(chosen)
    # Of the options only a filter goes with it.
    again = replace(chosen, firing="every", late_events=REEVALUATE, reset_on_alert=False, cooldown=None)
    return _judged_once(again)


def _judged_once(draft: Draft) -> Draft:
    """The same without what does not go with an aggregate that is judged once."""
    if not any(condition.function in (DEVIATION, *OF_ORDER) for condition in conditions_of(draft)):
        return draft
    late = "evaluate" if draft.late_events == REEVALUATE else draft.late_events
    return replace(draft, reset_on_alert=False, late_events=late)


def _perhaps_bucketed(rng: Random, world: World, profile: Profile, chosen: Draft) -> Draft:
    """Of few lengths, so that rules share buckets, or of a part of the window; an old one often keeps its own."""
    if not chance(rng, profile.bucketed):
        return bucketed(chosen, None)
    late = "evaluate" if chosen.late_events == REEVALUATE else chosen.late_events
    plain = replace(chosen, reset_on_alert=False, late_events=late)
    if chosen.bucket is not None and rng.random() < 0.7:
        return bucketed(plain, chosen.bucket)
    if rng.random() < 0.4:
        return bucketed(plain, world.pace * rng.choice([2, 9, 30]) // 1000)
    narrowest = min(condition.window for condition in conditions_of(chosen))
    return bucketed(plain, max(1, int(narrowest / rng.choice([1, 2, 3, 4, 7.5, 20, 50]))))


def changed_draft(rng: Random, world: World, profile: Profile, old: Draft) -> Draft:
    """A next definition: another window, grouping, function or limit, other options, or all anew."""
    return perhaps_of_party(rng, profile, _changed_draft(rng, world, profile, old))


def _changed_draft(rng: Random, world: World, profile: Profile, old: Draft) -> Draft:
    late = (profile.stored_late, profile.reevaluated)
    if chance(
        rng, max(profile.filtered, profile.crossing, profile.reset_on_alert, profile.cooldown, *late) / 2
    ):
        return _with_options(rng, world, profile, old)
    if old.bucket is not None and rng.random() < 0.3:
        return _same_buckets(rng, world, profile, old)
    change = rng.random()
    if change < 0.4:
        factor = rng.choice([0.1, 0.5, 2, 10])
        return scaled_draft(old, factor)
    if change < 0.8 and old.chain is not None:
        return _same_options(old, random_chain(rng, world, profile))
    if change < 0.6:
        drawn = with_limit(rng, world, random_grouping(rng), (old.function, old.field), old.window)
        return _same_options(old, perhaps_named_limit(rng, profile, drawn))
    if change < 0.8:
        drawn = with_limit(rng, world, old.grouping, aggregate_of(rng, profile), old.window)
        return _same_options(old, perhaps_named_limit(rng, profile, drawn))
    return _random_draft(rng, world, profile)


def _same_buckets(rng: Random, world: World, profile: Profile, old: Draft) -> Draft:
    """Another function of the same field, another limit, another window: what of one rule others can use too."""
    scaled = scaled_draft(old, rng.choice([0.3, 0.7, 1, 1.2, 3, 20]))
    if scaled.chain is not None:
        return scaled
    function = old.function if old.function == "COUNT" else rng.choice(["SUM", "AVG", "MIN", "MAX"])
    drawn = with_limit(rng, world, old.grouping, (function, old.field), scaled.window)
    return _same_options(old, perhaps_named_limit(rng, profile, drawn))


def shared_draft(rng: Random, world: World, profile: Profile, old: Draft) -> Draft:
    """Of another rule that has the same buckets."""
    firing = rng.choice([old.firing, "every"])
    shared = replace(_same_buckets(rng, world, profile, old), firing=firing, cooldown=None)
    return perhaps_of_party(rng, profile, shared)


def _same_options(old: Draft, new: Draft) -> Draft:
    options = replace(
        new,
        condition=old.condition,
        firing=old.firing,
        late_events=old.late_events,
        reset_on_alert=old.reset_on_alert,
        cooldown=old.cooldown,
        step=old.step if new.chain is None else None,
    )
    return bucketed(_judged_once(options), old.bucket)


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
