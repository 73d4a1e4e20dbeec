"""Shadows of a random history: they start beside some rule, and go their way."""

from __future__ import annotations

from random import Random

from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry, Rule
from tests.oracle.generators.definitions import changed_draft, random_draft, widened_draft
from tests.oracle.generators.profile import Profile
from tests.oracle.generators.world import World


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
            if style < 0.65 and percent < 99:
                return registry.roll_out_shadow(rule_id, rng.randint(percent + 1, 99), now)
            if style < 0.95:
                step = registry.promote_shadow if rng.random() < 0.6 else registry.end_shadow
                return step(rule_id, now)
        return registry.start_shadow(rule_id, self._draft(registry.rules[rule_id]), since, now)

    def _draft(self, rule: Rule) -> Draft:
        """Often like the rule's own, but for its window."""
        style = self._rng.random()
        if style < 0.4:
            return widened_draft(self._rng, rule.draft)
        if style < 0.6:
            return random_draft(self._rng, self._world, self._profile)
        return changed_draft(self._rng, self._world, self._profile, rule.draft)
