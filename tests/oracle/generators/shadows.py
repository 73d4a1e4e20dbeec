"""Shadows of a random history: they start beside some rule, and go their way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Final

from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry, Rule
from tests.oracle.generators.definitions import changed_draft, random_draft, widened_draft
from tests.oracle.generators.payments import Payment
from tests.oracle.generators.profile import Profile
from tests.oracle.generators.world import World
from tests.oracle.values.canonical_json import bucket
from tests.oracle.values.decimals import SCALE

_NEXT_EDGES: Final = 4
_WIDEST: Final = 99


class RandomShadows:
    """Of the rules that the registry has."""

    def __init__(self, rng: Random, world: World, profile: Profile, registry: Registry) -> None:
        self._rng, self._world, self._profile, self._registry = rng, world, profile, registry

    def draw(self, rule: Rule, since: int, now: int) -> bytes:
        """One is started beside that rule, or one that runs is rolled out, promoted, ended or started anew."""
        rng, registry, rule_id = self._rng, self._registry, rule.rule_id
        running = [other for other in registry.alive() if other.rule_id in registry.shadows]
        if running and rng.random() < 0.85:
            rule_id = rng.choice(running).rule_id
            percent, style = registry.percents[rule_id], rng.random()
            if style < 0.65 and percent < _WIDEST:
                return registry.roll_out_shadow(rule_id, rng.randint(percent + 1, _WIDEST), now)
            if style < 0.95:
                step = registry.promote_shadow if rng.random() < 0.6 else registry.end_shadow
                return step(rule_id, now)
        return registry.start_shadow(rule_id, self._draft(registry.rules[rule_id]), since, now)

    def widen(self, rule: Rule, sent: Sequence[Payment], since: int, now: int) -> bytes:
        """One that runs counts for a few groups more; where there is none, one is started beside that rule."""
        rng, registry = self._rng, self._registry
        narrow = [
            other.rule_id
            for other in registry.alive()
            if other.rule_id in registry.shadows and registry.percents[other.rule_id] < _WIDEST
        ]
        if not narrow:
            draft = self._busy(rule.draft) if rng.random() < 0.7 else self._draft(rule)
            return registry.start_shadow(rule.rule_id, draft, since, now)
        rule_id = rng.choice(narrow)
        least = registry.percents[rule_id] + 1
        # that bucket is the first that does not count yet, or the last that does
        buckets = _buckets(rule_id, registry.shadows[rule_id].draft, sent)
        edges = sorted({edge for one in buckets for edge in (one, one + 1) if least <= edge <= _WIDEST})
        if edges and rng.random() < 0.8:
            return registry.roll_out_shadow(rule_id, rng.choice(edges[:_NEXT_EDGES]), now)
        return registry.roll_out_shadow(rule_id, min(_WIDEST, rng.randint(least, least + 20)), now)

    def _draft(self, rule: Rule) -> Draft:
        """Often like the rule's own, but for its window."""
        style = self._rng.random()
        if style < 0.4:
            return widened_draft(self._rng, rule.draft)
        if style < 0.6:
            return random_draft(self._rng, self._world, self._profile)
        return changed_draft(self._rng, self._world, self._profile, rule.draft)

    def _busy(self, draft: Draft) -> Draft:
        """One like that which alerts about most of what its groups pay."""
        if draft.chain is not None:
            return draft
        limit = self._rng.randint(1, 2) * SCALE
        counted = replace(draft, function="COUNT", operator=">=", limit=limit, parameter=None)
        return replace(counted, firing="every", cooldown=None)


def _buckets(rule_id: int, draft: Draft, sent: Sequence[Payment]) -> set[int]:
    """Those of groups that have paid; none where they are of amounts or parties."""
    groups = set()
    for payment in sent:
        named = {
            "payeeId": payment.payee, "beneficiaryId": payment.beneficiary, "paymentType": payment.payment_type,
        }  # fmt: skip
        groups.add(tuple((name, named.get(name)) for name in draft.grouping))
    return {
        bucket(rule_id, {name: value for name, value in group if value is not None})
        for group in groups
        if all(value is not None for _, value in group)
    }
