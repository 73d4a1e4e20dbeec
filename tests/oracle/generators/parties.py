"""Rules by a party, made of others: all groupings name it, and most filters a side."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.oracle.builders.drafts import Branch, Draft, DraftTree, bucketed, chained
from tests.oracle.generators.measures import chance
from tests.oracle.generators.profile import Profile
from tests.oracle.parsers.definitions import REEVALUATE
from tests.oracle.values.event_types import PAYMENTS, SIDE
from tests.oracle.values.model import Json

_PARTY = "account"
_SIDES = tuple(PAYMENTS.parties[_PARTY])


def perhaps_of_party(rng: Random, profile: Profile, draft: Draft) -> Draft:
    """The draft, or one like it by the party; where parties may come one that was is so throughout, or not at all."""
    if not profile.parties:
        return draft
    return _of_party(rng, draft) if chance(rng, profile.parties) else _of_fields(draft)


def _of_party(rng: Random, draft: Draft) -> Draft:
    late = "evaluate" if draft.late_events == REEVALUATE else draft.late_events
    only = _sided(rng, draft.condition, 0.5)
    plain = replace(draft, condition=only, late_events=late, reset_on_alert=False)
    if draft.chain is None:
        return bucketed(replace(plain, grouping=_grouping(rng, draft.grouping)), draft.bucket)
    chain = _each(draft.chain, lambda condition: _condition(rng, condition))
    made = chained(chain)
    return bucketed(replace(plain, grouping=made.grouping, window=made.window, chain=chain), draft.bucket)


def _condition(rng: Random, condition: Draft) -> Draft:
    behind = condition.behind
    if behind is not None:
        only = _sided(rng, behind.condition, 0.6)
        behind = replace(behind, grouping=_grouping(rng, behind.grouping), condition=only)
    only = _sided(rng, condition.condition, 0.6)
    return replace(condition, grouping=_grouping(rng, condition.grouping), condition=only, behind=behind)


def _grouping(rng: Random, grouping: tuple[str, ...]) -> tuple[str, ...]:
    """The party, mostly in place of the keys that are its sides'."""
    kept = {name for name in grouping if name not in PAYMENTS.parties[_PARTY].values() or rng.random() < 0.2}
    return tuple(sorted({_PARTY, *kept}))


def _sided(rng: Random, only: Json, share: float) -> Json:
    """The filter, in most cases with a side beside it, or a negated one."""
    bare = _without_sides(only)
    if rng.random() >= share:
        return bare
    side: Json = {SIDE: rng.choice(_SIDES)}
    test: Json = {"not": side} if rng.random() < 0.2 else side
    return test if bare is None else {rng.choice(["all", "all", "any"]): [test, bare]}


def _of_fields(draft: Draft) -> Draft:
    """What is left of it without parties; a grouping may then be empty beside others, which nothing shares."""
    bare = replace(draft, condition=_without_sides(draft.condition))
    if draft.chain is None:
        return replace(bare, grouping=_fields(draft.grouping))
    chain = _each(draft.chain, _plain)
    made = chained(chain)
    return replace(bare, grouping=made.grouping, window=made.window, chain=chain)


def _plain(condition: Draft) -> Draft:
    behind = condition.behind
    if behind is not None:
        only = _without_sides(behind.condition)
        behind = replace(behind, grouping=_fields(behind.grouping), condition=only)
    only = _without_sides(condition.condition)
    return replace(condition, grouping=_fields(condition.grouping), condition=only, behind=behind)


def _fields(grouping: tuple[str, ...]) -> tuple[str, ...]:
    """The payee in place of the party."""
    return tuple(sorted({"payeeId" if name == _PARTY else name for name in grouping}))


def _each(tree: DraftTree, change: object) -> DraftTree:
    if isinstance(tree, Branch):
        return replace(tree, parts=tuple(_each(part, change) for part in tree.parts))
    assert callable(change)
    changed: Draft = change(tree)
    return changed


def _without_sides(only: Json) -> Json:
    """The filter without its tests of sides; None where nothing is left of it."""
    if not isinstance(only, dict) or only.keys() == {SIDE}:
        return None
    if only.keys() == {"not"}:
        inner = _without_sides(only["not"])
        return None if inner is None else {"not": inner}
    for kind in ("all", "any"):
        if only.keys() == {kind}:
            items = only[kind]
            assert isinstance(items, list)
            parts: list[Json] = [part for part in map(_without_sides, items) if part is not None]
            return {kind: parts} if parts else None
    return only
