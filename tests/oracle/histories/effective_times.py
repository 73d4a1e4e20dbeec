"""When definitions in a random history begin to judge, and when they end."""

from __future__ import annotations

from random import Random

from tests.oracle.builders.registry import Rule
from tests.oracle.generators.profile import Profile
from tests.oracle.generators.world import World
from tests.oracle.values.schema import LAST_TIME


class EffectiveTimes:
    """Draws event times in ms; `seen` are those of the payments sent so far, in the order of sending."""

    def __init__(self, rng: Random, world: World, profile: Profile) -> None:
        self.seen: list[int] = []
        self._rng = rng
        self._world = world
        self._profile = profile

    def next_start(self, rule: Rule, now: int) -> int:
        """Often just before the old one, so that a few payments lie between, and one perhaps on its edge."""
        if self._profile.aimed_start > 0 and self._rng.random() < 0.45:
            before = self._rng.choice([0, 1, self._rng.randint(1, 20 * self._world.pace)])
            return max(0, rule.effective_from - before)
        return self.start(now, first=False)

    def start(self, now: int, *, first: bool) -> int:
        """The beginning of a first definition, or of one after others."""
        if self._profile.aimed_start > 0 and self.seen and self._rng.random() < self._profile.aimed_start:
            near = self.seen[-self._rng.choice([2, 10, 80]) :]
            return max(0, min(self._rng.choice(near) + self._rng.choice([0, 0, 0, 1, -1]), LAST_TIME))
        style = self._rng.random()
        reach = self._rng.randint(0, 40 * self._world.pace)
        if style < (0.5 if first else 0.2):
            return 0
        if style < (0.85 if first else 0.5):
            return max(0, now - reach)
        return min(now, LAST_TIME) if style < 0.7 else min(now + reach, LAST_TIME)

    def end(self, since: int, now: int) -> int | None:
        """Before the beginning (it never judges), at the time of some payment, a while from now, or never."""
        if self._profile.expiring == 0 or self._rng.random() >= self._profile.expiring:
            return None
        if self.seen and self._rng.random() < 0.5:
            return max(0, self._rng.choice(self.seen[-40:]) + self._rng.choice([0, 1]))
        reach = self._rng.randint(0, 40 * self._world.pace)
        return min(
            self._rng.choice([max(0, since - 1), since, since + reach, now + reach, now + reach]), LAST_TIME
        )
