"""When rules come, change and go in a random history, and how untidily their events arrive."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.oracle.builders.drafts import Draft
from tests.oracle.builders.registry import Registry, Rule
from tests.oracle.generators.definitions import changed_draft, random_draft, shared_draft, widened_draft
from tests.oracle.generators.named_values import first_changes, random_changes
from tests.oracle.generators.operator_commands import RandomCommands
from tests.oracle.generators.payments import Payment
from tests.oracle.generators.profile import Profile
from tests.oracle.generators.shadows import RandomShadows
from tests.oracle.generators.world import World
from tests.oracle.histories.effective_times import EffectiveTimes
from tests.oracle.malformed.rule_events import garbage_event
from tests.oracle.parsers.rule_events import CLEAR_STATE, Settings

_CHANGES = (
    *["redefine"] * 3,
    *["widen"] * 3,
    *["replace"] * 2,
    *["pause", "resume", "delete", "publish while paused"],
)
_LONGEST_SETTING = 30 * 86_400_000


class RuleSchedule:
    """Asked batch by batch for the raw rule events; `settings` are those last published."""

    def __init__(self, rng: Random, world: World, profile: Profile, batches: int) -> None:
        self.settings = Settings()
        self.registry = Registry()
        self.clears = 0
        self._rng = rng
        self._world = world
        self._profile = profile
        self.commands = RandomCommands(rng, world, self.registry)
        self._shadows = RandomShadows(rng, world, profile, self.registry)
        self._sent_payments: Sequence[Payment] = ()
        self._times = EffectiveTimes(rng, world, profile)
        self._schedule: list[list[str]] = [[] for _ in range(batches)]
        self._sent: list[bytes] = []
        self._replaced: list[Draft] = []
        self._held_back: bytes | None = None
        self._may_hold_back = rng.random() < profile.held_back_event
        self._repeats = rng.random() < profile.repeated_events
        self._fill(profile)
        if profile.named > 0:
            self._fill_names()
        if profile.bucketed > 0:
            self._fill_shared()
        if profile.commands > 0:
            self._fill_commands()
        if profile.shadows > 0:
            self._fill_shadows()

    def _fill(self, profile: Profile) -> None:
        rng, last = self._rng, len(self._schedule) - 1
        if rng.random() < profile.own_settings:
            self._schedule[0].append("own settings")
        for number in range(rng.randint(*profile.rules)):
            batch = 0 if number < 2 or rng.random() < 0.7 else rng.randint(0, last)
            self._schedule[batch].append("add")
        for _ in range(rng.randint(*profile.rule_changes)):
            self._schedule[rng.randint(min(1, last), last)].append(rng.choice(_CHANGES))
        if rng.random() < profile.changed_settings:
            for _ in range(rng.randint(1, 3)):
                self._schedule[rng.randint(0, last)].append("change settings")
        if rng.random() < profile.garbage_events:
            for _ in range(3):
                self._schedule[rng.randint(0, last)].append("garbage")
        if profile.aimed_start > 0:
            # Rules of the first micro-batch have nothing to catch up.
            for _ in range(rng.randint(2, 5)):
                self._schedule[rng.randint(min(1, last), last)].append("add")
        chances = (profile.controls, "control"), (profile.flurries, "flurry"), (profile.abandoned, "abandon")
        for share, change in chances:
            for changes in self._schedule if share > 0 else []:
                if rng.random() < share:
                    changes.insert(rng.randint(0, len(changes)), change)

    def _fill_names(self) -> None:
        """Some names say something from the beginning, and rules that come before that hold nothing against it."""
        rng, first = self._rng, self._schedule[0]
        first.insert(rng.randint(0, len(first)), "first names")
        for changes in self._schedule:
            if rng.random() < 0.5:
                changes.insert(rng.randint(0, len(changes)), "names")

    def _fill_shared(self) -> None:
        """Rules that have the buckets of others."""
        rng, last = self._rng, len(self._schedule) - 1
        for _ in range(rng.randint(2, 5)):
            self._schedule[rng.randint(min(1, last), last)].append("share buckets")

    def _fill_commands(self) -> None:
        rng, last = self._rng, len(self._schedule) - 1
        if rng.random() < 0.7:
            self._schedule[rng.randint(0, last // 2)].append("start backfill")
        for changes in self._schedule[min(1, last) :]:
            while rng.random() < self._profile.commands:
                changes.insert(rng.randint(0, len(changes)), "command")

    def _fill_shadows(self) -> None:
        steps = (self._profile.shadows, "shadow"), (self._profile.widened, "widen a rollout")
        for share, step in steps:
            for changes in self._schedule if share > 0 else []:
                while self._rng.random() < share:
                    changes.insert(self._rng.randint(0, len(changes)), step)

    def events(self, batch: int, now: int, sent: Sequence[Payment]) -> tuple[bytes, ...]:
        """The raw values of rules.v1 in this micro-batch; `now` in ms is when they are made.

        `sent` are the payments so far, in the order of sending.
        """
        self._sent_payments = sent
        self._times.seen = [payment.event_time for payment in sent]
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
            draft = random_draft(self._rng, self._world, self._profile)
            since = self._times.start(now, first=True)
            paused = self._profile.aimed_start > 0 and self._rng.random() < 0.15
            return [self._publish(number, draft, since, now, paused=paused)]
        if change in {"own settings", "change settings"}:
            changed = self._scaled_settings() if change == "own settings" else self._moved_settings()
            return [self._settings(changed, now)]
        if change == "garbage":
            return [garbage_event(self._rng, self._world, self._profile, self.registry.position + 1, now)]
        if change in {"first names", "names"}:
            changes = first_changes if change == "first names" else random_changes
            return changes(self._rng, self._world, self.registry, self._profile, now)
        if change == "renew":
            return [self._renew(now)]
        if change in {"start backfill", "command", "control"}:
            return self._commanded(change, now)
        if change == "share buckets":
            return self._share_buckets(now)
        alive = self.registry.alive()
        return self._change(change, self._rng.choice(alive), now) if alive else []

    def _change(self, change: str, rule: Rule, now: int) -> list[bytes]:
        made: list[bytes] = []
        if change == "shadow":
            return [self._shadows.draw(rule, self._times.start(now, first=False), now)]
        if change == "widen a rollout":
            since = self._times.start(now, first=False)
            return [self._shadows.widen(rule, self._sent_payments, since, now)]
        if change == "flurry":
            return self._flurry(rule, now)
        if change == "abandon":
            return self._abandon(rule, now)
        if change in {"delete", "replace"}:
            if change == "replace":
                rule = max(self.registry.alive(), key=lambda other: other.draft.window)
                self._replaced.append(rule.draft)
            return [self.registry.move("RuleDeleted", "DELETED", rule.rule_id, now)]
        if change == "widen":
            wider = widened_draft(self._rng, rule.draft)
            return [self._publish(rule.rule_id, wider, self._times.start(now, first=True), now)]
        if change in {"pause", "publish while paused"} and rule.state != "PAUSED":
            made.append(self.registry.move("RulePaused", "PAUSED", rule.rule_id, now))
        if change == "resume":
            paused = [other for other in self.registry.alive() if other.state == "PAUSED"]
            chosen = paused[0] if paused else rule
            return [self.registry.move("RuleResumed", "ACTIVE", chosen.rule_id, now)]
        if change in {"redefine", "publish while paused"}:
            draft = changed_draft(self._rng, self._world, self._profile, rule.draft)
            since = self._times.next_start(rule, now)
            made.append(self._publish(rule.rule_id, draft, since, now))
        return made

    def _publish(self, rule_id: int, draft: Draft, since: int, now: int, *, paused: bool = False) -> bytes:
        until = self._times.end(since, now)
        return self.registry.publish(rule_id, draft, since, now, paused=paused, effective_until=until)

    def _renew(self, now: int) -> bytes:
        """A new rule with the window of one deleted before, whose history may be gone by now."""
        old = self._replaced.pop() if self._replaced else random_draft(self._rng, self._world, self._profile)
        since = self._times.start(now, first=True)
        return self._publish(len(self.registry.rules) + 1, old, since, now)

    def _abandon(self, rule: Rule, now: int) -> list[bytes]:
        """All rules that share a field with this one go, and one comes anew some time later."""
        fields = {*rule.draft.grouping}
        alive = self.registry.alive()
        doomed = [other for other in alive if fields & {*other.draft.grouping} or not fields]
        later = self._rng.randrange(len(self._schedule))
        self._schedule[later].append("add")
        return [self.registry.move("RuleDeleted", "DELETED", rule.rule_id, now) for rule in doomed]

    def _share_buckets(self, now: int) -> list[bytes]:
        drafts = [rule.draft for rule in self.registry.alive() if rule.draft.bucket is not None]
        if not drafts:
            return []
        draft = shared_draft(self._rng, self._world, self._profile, self._rng.choice(drafts))
        since = self._times.start(now, first=True)
        return [self._publish(len(self.registry.rules) + 1, draft, since, now)]

    def _commanded(self, change: str, now: int) -> list[bytes]:
        if change == "control":
            return self._control(now)
        if change == "start backfill":
            return [self.commands.start_backfill(now)]
        made = self.commands.draw(self._sent_payments, now, self.settings)
        # What is forgotten, or void, must not make anything late, and its id is remembered.
        self.clears += not any(b"BACKFILL" in raw for raw in made)
        return made

    def _control(self, now: int) -> list[bytes]:
        """A command; the one that deletes all rules brings their events with it."""
        commands = (CLEAR_STATE, "CLEAR_STATE_ALL_STOP", "EXPORT_RULES_CURRENT", "DELETE_RULES_ALL")
        command = self._rng.choices(commands, [12, 3, 3, 3])[0]
        self.clears += command == CLEAR_STATE
        made = [self.registry.control(command, now)]
        if command == "DELETE_RULES_ALL":
            doomed = self.registry.alive()
            made += [self.registry.move("RuleDeleted", "DELETED", rule.rule_id, now) for rule in doomed]
            made += [event for _ in range(3) for event in self._make("add", now)]
        return made

    def _flurry(self, rule: Rule, now: int) -> list[bytes]:
        """One rule published, paused and resumed at once, a clear perhaps between."""
        made: list[bytes] = []
        for _ in range(self._rng.randint(2, 5)):
            step = self._rng.randrange(6)
            if step == 0:
                made.append(self.registry.move("RulePaused", "PAUSED", rule.rule_id, now))
            elif step == 1:
                made.append(self.registry.move("RuleResumed", "ACTIVE", rule.rule_id, now))
            elif step == 2 and self._profile.controls > 0 and self._rng.random() < 0.3:
                self.clears += 1
                made.append(self.registry.control(CLEAR_STATE, now))
            else:
                made += self._change("redefine", self.registry.rules[rule.rule_id], now)
        return made

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
