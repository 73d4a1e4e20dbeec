"""When rules come, change and go in a random history, and how untidily their events arrive."""

from __future__ import annotations

import json
from random import Random

from tests.oracle.knobs import Knobs
from tests.oracle.random_rules import Draft, changed_draft, random_draft, widened_draft
from tests.oracle.random_world import LAST_TIME, World
from tests.oracle.registry import Registry, Rule
from tests.oracle.rule_events import Settings

_CHANGES = (
    *["redefine"] * 3,
    *["widen"] * 3,
    *["replace"] * 2,
    *["pause", "resume", "delete", "publish while paused"],
)
_LONGEST_SETTING = 30 * 86_400_000


class RulePlan:
    """Asked batch by batch for the raw rule events; `settings` are those last published."""

    def __init__(self, rng: Random, world: World, knobs: Knobs, batches: int) -> None:
        self.settings = Settings()
        self.registry = Registry()
        self._rng = rng
        self._world = world
        self._schedule: list[list[str]] = [[] for _ in range(batches)]
        self._sent: list[bytes] = []
        self._replaced: list[Draft] = []
        self._held_back: bytes | None = None
        self._may_hold_back = rng.random() < knobs.held_back_event
        self._repeats = rng.random() < knobs.repeated_events
        self._fill(knobs)

    def _fill(self, knobs: Knobs) -> None:
        rng, last = self._rng, len(self._schedule) - 1
        if rng.random() < knobs.own_settings:
            self._schedule[0].append("own settings")
        for number in range(rng.randint(*knobs.rules)):
            batch = 0 if number < 2 or rng.random() < 0.7 else rng.randint(0, last)
            self._schedule[batch].append("add")
        for _ in range(rng.randint(*knobs.rule_changes)):
            self._schedule[rng.randint(min(1, last), last)].append(rng.choice(_CHANGES))
        if rng.random() < knobs.changed_settings:
            for _ in range(rng.randint(1, 3)):
                self._schedule[rng.randint(0, last)].append("change settings")
        if rng.random() < knobs.garbage_events:
            for _ in range(3):
                self._schedule[rng.randint(0, last)].append("garbage")

    def events(self, batch: int, now: int) -> tuple[bytes, ...]:
        """The raw values of rules.v1 in this micro-batch; `now` in ms is when they are made."""
        new = [event for change in self._schedule[batch] for event in self._make(change, now)]
        if "replace" in self._schedule[batch] and batch + 1 < len(self._schedule):
            later = self._rng.randint(batch + 1, len(self._schedule) - 1)
            self._schedule[later].append("renew")
        if self._held_back is not None:
            new.append(self._held_back)
            self._held_back = None
        elif self._may_hold_back and new and self._schedule[batch][-1] == "redefine":
            self._held_back = new.pop()
        if self._repeats and self._sent:
            for _ in range(self._rng.randint(0, 2)):
                new.insert(self._rng.randint(0, len(new)), self._rng.choice(self._sent))
            if self._rng.random() < 0.1:
                self._rng.shuffle(new)
        self._sent += new
        return tuple(new)

    def _make(self, change: str, now: int) -> list[bytes]:
        if change == "add":
            number = len(self.registry.rules) + 1
            draft = random_draft(self._rng, self._world)
            return [self.registry.publish(number, draft, self._effective_from(now, first=True), now)]
        if change == "own settings":
            return [self._settings(self._scaled_settings(), now)]
        if change == "change settings":
            return [self._settings(self._moved_settings(), now)]
        if change == "garbage":
            return [self._garbage(now)]
        if change == "renew":
            return [self._renew(now)]
        alive = self.registry.alive()
        return self._change(change, self._rng.choice(alive), now) if alive else []

    def _change(self, change: str, rule: Rule, now: int) -> list[bytes]:
        made: list[bytes] = []
        if change in {"delete", "replace"}:
            if change == "replace":
                rule = max(self.registry.alive(), key=lambda other: other.draft.window)
                self._replaced.append(rule.draft)
            return [self.registry.move("RuleDeleted", "DELETED", rule.rule_id, now)]
        if change == "widen":
            wider = widened_draft(self._rng, rule.draft)
            return [self.registry.publish(rule.rule_id, wider, self._effective_from(now, first=True), now)]
        if change in {"pause", "publish while paused"} and rule.state != "PAUSED":
            made.append(self.registry.move("RulePaused", "PAUSED", rule.rule_id, now))
        if change == "resume":
            paused = [other for other in self.registry.alive() if other.state == "PAUSED"]
            chosen = paused[0] if paused else rule
            return [self.registry.move("RuleResumed", "ACTIVE", chosen.rule_id, now)]
        if change in {"redefine", "publish while paused"}:
            draft = changed_draft(self._rng, self._world, rule.draft)
            since = self._effective_from(now, first=False)
            made.append(self.registry.publish(rule.rule_id, draft, since, now))
        return made

    def _renew(self, now: int) -> bytes:
        """A new rule with the window of one deleted before, whose history may be gone by now."""
        old = self._replaced.pop() if self._replaced else random_draft(self._rng, self._world)
        since = self._effective_from(now, first=True)
        return self.registry.publish(len(self.registry.rules) + 1, old, since, now)

    def _effective_from(self, now: int, *, first: bool) -> int:
        style = self._rng.random()
        reach = self._rng.randint(0, 40 * self._world.pace)
        if style < (0.5 if first else 0.2):
            return 0
        if style < (0.85 if first else 0.5):
            return max(0, now - reach)
        return min(now, LAST_TIME) if style < 0.7 else min(now + reach, LAST_TIME)

    def _settings(self, settings: Settings, now: int) -> bytes:
        self.settings = settings
        return self.registry.change_settings(settings, now)

    def _scaled_settings(self) -> Settings:
        """In proportion to the history's pace, so that they bite in short and in long histories."""
        lateness, skew, disorder = (
            1000 * max(1, int(self._world.pace * 10 ** self._rng.uniform(-0.3, 1.4) / 1000)) for _ in range(3)
        )
        return Settings(lateness, skew, disorder)

    def _moved_settings(self) -> Settings:
        old = self.settings
        together = self._rng.choice([0.1, 1, 1, 10])
        lateness, skew, disorder = (
            min(
                1000 * max(1, int(value * together * self._rng.choice([0.5, 1, 1, 2]) / 1000)),
                _LONGEST_SETTING,
            )
            for value in (old.allowed_lateness, old.max_future_skew, old.max_disorder)
        )
        return Settings(lateness, skew, disorder)

    def _garbage(self, now: int) -> bytes:
        position = self.registry.position + 1
        style = self._rng.randrange(4)
        if style == 0:
            return self._rng.choice([b'{"position": 1', b"[]", b"", b"\xff\xfe", b"null"])
        if style == 1:
            return json.dumps({"type": "RuleSung", "position": position}).encode()
        draft = random_draft(self._rng, self._world)
        event = json.loads(Registry().publish(1000, draft, 0, now))
        event["position"] = position
        event["definition"].update(
            {"aggregatorFunctionType": "MEDIAN"} if style == 2 else {"windowSeconds": 0}
        )
        return json.dumps(event).encode()
