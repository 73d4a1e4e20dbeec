"""The records of a random history: mostly in order, and every way of not being so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from tests.oracle.builders.drafts import conditions_of
from tests.oracle.generators.payments import Payment, payment_value, random_payment
from tests.oracle.generators.profile import Profile
from tests.oracle.generators.world import World
from tests.oracle.histories.rule_schedule import RuleSchedule
from tests.oracle.malformed.records import broken_value, largest_value
from tests.oracle.values.model import Record
from tests.oracle.windows.bucket_times import bucket_start


class Traffic:
    """Makes one record after another. `wall` is the time by which they are sent, `clock` the highest tick.

    `sent` are the payments so far, in the order of sending.
    """

    def __init__(self, rng: Random, world: World, profile: Profile, plan: RuleSchedule) -> None:
        self.wall = world.start
        self.clock = 0
        self.first_tick: int | None = None
        self._rng = rng
        self._world = world
        self._plan = plan
        self.sent: list[Payment] = []
        self._made = 0
        self._offsets = [rng.randint(0, 5) for _ in range(world.partitions)]
        kinds: list[tuple[float, Callable[[], Payment]]] = [
            (profile.late, self._late),
            (profile.too_late, self._too_late),
            (profile.future, self._future),
            (profile.out_of_order, self._out_of_order),
            (profile.duplicate, self._duplicate),
            (profile.null_key, self._null_key),
            (profile.equal_time, self._equal_time),
            (profile.window_edge, self._window_edge),
            (profile.oldest, self._oldest),
            (profile.warm_edge, self._warm_edge),
            (profile.start_edge, self._start_edge),
            (profile.silence_edge, self._silence_edge),
            (profile.late_twin, self._late_twin),
            (profile.cooldown_edge, self._cooldown_edge),
            (0.08 if profile.bucketed > 0 else 0, self._bucket_edge),
            (0.08 if profile.commands > 0 else 0, self._backfilled),
        ]
        self._clears = 0
        self._twins_after_clear = 4 if profile.late_twin > 0 else 0
        self._twins_due = 0
        self._broken = profile.broken
        self._makers = [maker for _, maker in kinds] + [self._ordinary]
        shares = [share for share, _ in kinds]
        self._shares = [*shares, max(0.05, 1 - sum(shares))]

    def record(self) -> Record:
        """The next record of some partition; offsets may have gaps, as compaction and transactions leave."""
        partition = self._rng.randrange(self._world.partitions)
        offset = self._offsets[partition]
        self._offsets[partition] += self._rng.choice([1] * 9 + [3])
        if self._rng.random() < self._broken:
            self.wall += self._pause()
            value = broken_value(self._rng, self.wall)
            backfills = self._plan.commands.backfills
            header = self._rng.choice([None, *backfills]) if backfills else None
            return Record(partition, offset, max(0, self.wall), value, header)
        if self._rng.random() < 0.003:
            return Record(partition, offset, max(0, self.wall), largest_value(self.wall))
        payment = self._next()
        self.sent.append(payment)
        value = payment_value(self._rng, payment)
        return Record(partition, offset, max(0, payment.record_time), value, payment.backfill)

    def _next(self) -> Payment:
        if self._plan.clears > self._clears:
            # What a clear has forgotten must not make anything late, but its ids are remembered.
            self._clears, self._twins_due = self._plan.clears, self._twins_after_clear
        if self._twins_due and self._rng.random() < 0.6:
            self._twins_due -= 1
            return self._rng.choice([self._late_twin, self._late_twin, self._duplicate])()
        return self._rng.choices(self._makers, self._shares)[0]()

    def _pause(self) -> int:
        return int(self._rng.expovariate(1) * self._world.pace)

    def _payment(self, event_time: int, record_time: int) -> Payment:
        self._made += 1
        name = str(self._made) if self._rng.random() < 0.5 else f"t-{self._made}"
        return random_payment(self._rng, self._world, name, event_time, record_time)

    def _ordinary(self) -> Payment:
        self.wall += self._pause()
        settings = self._plan.settings
        slack = min(settings.max_disorder, settings.allowed_lateness, 3 * self._world.pace) // 2
        record_time = self.wall - (self._rng.randint(0, slack) if self._rng.random() < 0.3 else 0)
        delay = self._rng.randint(0, slack) if self._rng.random() < 0.3 else 0
        return self._payment(record_time - delay, record_time)

    def _late(self) -> Payment:
        lateness = self._plan.settings.allowed_lateness
        delay = min(lateness, self._rng.randint(0, 40 * self._world.pace))
        if self._rng.random() < 0.1:
            delay = lateness
        return self._payment(self.wall - delay, self.wall)

    def _too_late(self) -> Payment:
        beyond = self._rng.choice([1, 1, self._rng.randint(1, 20 * self._world.pace)])
        return self._payment(self.wall - self._plan.settings.allowed_lateness - beyond, self.wall)

    def _future(self) -> Payment:
        beyond = self._rng.choice([0, 0, 1, self._rng.randint(1, 20 * self._world.pace)])
        return self._payment(self.wall + self._plan.settings.max_future_skew + beyond, self.wall)

    def _out_of_order(self) -> Payment:
        if not self.clock:
            return self._ordinary()
        beyond = self._rng.choice([0, 1, 1, self._rng.randint(1, 20 * self._world.pace)])
        record_time = self.clock - self._plan.settings.max_disorder - beyond
        return self._payment(record_time, record_time)

    def _null_key(self) -> Payment:
        payment = self._ordinary()
        style = self._rng.randrange(4)
        if style == 0:
            return replace(payment, payee=None)
        if style == 1:
            return replace(payment, beneficiary=None)
        if style == 2:
            return replace(payment, payment_type=None)
        return replace(payment, payee=None, beneficiary=None)

    def _equal_time(self) -> Payment:
        near = [sent for sent in self.sent[-12:] if abs(sent.event_time - self.wall) < 20 * self._world.pace]
        if not near:
            return self._ordinary()
        other = self._rng.choice(near)
        twin = self._payment(other.event_time, self.wall)
        return replace(other, transaction_id=twin.transaction_id) if self._rng.random() < 0.3 else twin

    def _duplicate(self) -> Payment:
        if not self.sent:
            return self._ordinary()
        old = self._rng.choice(self.sent[-20:])
        style = self._rng.randrange(5)
        if style == 0:
            return replace(old, record_time=max(old.record_time, self.wall))
        if style == 1:
            return replace(old, beneficiary=self._rng.choice(self._world.beneficiaries))
        if style == 2:
            return replace(
                old, payee=self._rng.choice(self._world.payees), event_time=self.wall, record_time=self.wall
            )
        settings = self._plan.settings
        reach = settings.allowed_lateness + settings.max_future_skew
        if style == 3:
            return replace(self._rng.choice(self.sent), event_time=self.wall, record_time=self.wall)
        return self._at_reach(reach + self._rng.choice([0, 0, 1]))

    def _at_reach(self, reach: int) -> Payment:
        """Again under the same id, exactly so much later, where that is not far from now."""
        ahead = [
            old for old in self.sent if 0 <= old.record_time + reach - self.wall <= 20 * self._world.pace
        ]
        if not ahead:
            return self._ordinary()
        old = self._rng.choice(ahead)
        self.wall = old.record_time + reach
        return replace(old, event_time=self.wall, record_time=self.wall)

    def _window_edge(self) -> Payment:
        """So that an earlier one of the same keys lies on an edge of some rule's window, or just outside."""
        drafts = [rule.draft for rule in self._plan.registry.alive()]
        windows = [1000 * condition.window for draft in drafts for condition in conditions_of(draft)]
        reach = 20 * self._world.pace
        edges = [
            (old, old.event_time + window)
            for old in self.sent
            for window in windows
            if -reach <= old.event_time + window - self.wall <= reach
        ]
        if not edges:
            return self._ordinary()
        old, edge = self._rng.choice(edges)
        event_time = edge + self._rng.choice([0, 0, 1])
        self.wall = max(self.wall, event_time)
        fresh = self._payment(event_time, self.wall)
        return replace(fresh, payee=old.payee, beneficiary=old.beneficiary, payment_type=old.payment_type)

    def _oldest(self) -> Payment:
        """As old as the clock just lets in, or a little older: where floors and history meet."""
        if not self.clock:
            return self._ordinary()
        settings = self._plan.settings
        record_time = self.clock - settings.max_disorder
        beyond = self._rng.choice([0, 0, 0, 1])
        return self._payment(record_time - settings.allowed_lateness - beyond, record_time)

    def _warm_edge(self) -> Payment:
        """Exactly one window after the first tick, or just before that."""
        first = self.first_tick
        reach = 20 * self._world.pace
        windows = [1000 * rule.draft.window for rule in self._plan.registry.alive()]
        edges = (
            [first + window for window in windows if abs(first + window - self.wall) <= reach]
            if first
            else []
        )
        if not edges:
            return self._ordinary()
        event_time = self._rng.choice(edges) - self._rng.choice([0, 1])
        self.wall = max(self.wall, event_time)
        return self._payment(event_time, self.wall)

    def _start_edge(self) -> Payment:
        """Exactly where a definition begins to be in force, or just before."""
        reach = 20 * self._world.pace
        starts = [rule.effective_from for rule in self._plan.registry.alive()]
        near = [start for start in starts if abs(start - self.wall) <= reach]
        if not near:
            return self._ordinary()
        event_time = max(0, self._rng.choice(near) - self._rng.choice([0, 0, 1]))
        self.wall = max(self.wall, event_time)
        return self._payment(event_time, self.wall)

    def _silence_edge(self) -> Payment:
        """One window after the newest of its keys, or just after that: an evaluation expires there."""
        windows = [1000 * rule.draft.window for rule in self._plan.registry.alive()]
        short = [window for window in windows if window <= 30 * self._world.pace]
        if not short or not self.sent:
            return self._ordinary()
        old = self._rng.choice(self.sent[-15:])
        newest = max(
            sent.event_time
            for sent in self.sent
            if (sent.payee, sent.beneficiary) == (old.payee, old.beneficiary)
        )
        event_time = newest + self._rng.choice(short) + self._rng.choice([0, 0, 1])
        self.wall = max(self.wall, event_time)
        return self._again(old, event_time)

    def _cooldown_edge(self) -> Payment:
        """One cooldown after another of the same keys, which may have alerted, or just before that."""
        drafts = [rule.draft for rule in self._plan.registry.alive()]
        cooldowns = [1000 * draft.cooldown for draft in drafts if draft.cooldown is not None]
        reach = 20 * self._world.pace
        ends = [
            (old, old.event_time + cooldown)
            for old in self.sent
            for cooldown in cooldowns
            if -reach <= old.event_time + cooldown - self.wall <= reach
        ]
        if not ends:
            return self._ordinary()
        old, end = self._rng.choice(ends)
        event_time = end - self._rng.choice([0, 0, 1])
        self.wall = max(self.wall, event_time)
        return self._again(old, event_time)

    def _bucket_edge(self) -> Payment:
        """So that a window begins just where the bucket of an earlier one of the same keys does, or ends there."""
        drafts = [rule.draft for rule in self._plan.registry.alive()]
        lengths = [
            (1000 * draft.bucket, 1000 * condition.window)
            for draft in drafts
            if draft.bucket is not None
            for condition in conditions_of(draft)
        ]
        reach = 20 * self._world.pace
        edges = [
            (old, edge)
            for old in self.sent
            for length, window in lengths
            for edge in _edges(old.event_time, length, window)
            if abs(edge - self.wall) <= reach
        ]
        if not edges:
            return self._ordinary()
        old, event_time = self._rng.choice(edges)
        self.wall = max(self.wall, event_time)
        return self._again(old, event_time)

    def _backfilled(self) -> Payment:
        """Of long ago, mostly under a backfill that stands; one of the same keys perhaps, or a copy."""
        rng, plan, commands = self._rng, self._plan, self._plan.commands
        if not commands.backfills:
            return self._ordinary()
        known = commands.standing if commands.standing and rng.random() < 0.8 else [*commands.backfills, "?"]
        name = rng.choice(known)
        style = rng.random()
        if style < 0.08 and self.sent:
            return replace(rng.choice(self.sent[-20:]), record_time=self.wall, backfill=name)
        if style < 0.12:
            return replace(self._future(), backfill=name)
        windows = [1000 * rule.draft.window for rule in plan.registry.alive()] or [0]
        back = rng.randint(0, rng.choice([*windows, 40 * self._world.pace]))
        record_time = self.wall
        if style < 0.3 and self.clock:
            record_time = max(
                0, self.clock - plan.settings.max_disorder - rng.randint(0, 5 * self._world.pace)
            )
        payment = self._payment(max(0, self.wall - back), record_time)
        if style < 0.6 and self.sent:
            old = rng.choice(self.sent[-30:])
            payment = replace(payment, payee=old.payee, beneficiary=old.beneficiary)
        return replace(payment, backfill=name)

    def _late_twin(self) -> Payment:
        """Just before another of the same keys that was sent a moment ago."""
        if not self.sent:
            return self._ordinary()
        old = self._rng.choice(self.sent[-6:])
        lateness = self._plan.settings.allowed_lateness
        back = self._rng.choice([1, 1, self._rng.randint(1, 3 * self._world.pace)])
        return self._again(old, max(0, old.event_time - back, self.wall - lateness))

    def _again(self, old: Payment, event_time: int) -> Payment:
        """A new payment, on record now, of the same keys."""
        fresh = self._payment(event_time, self.wall)
        return replace(fresh, payee=old.payee, beneficiary=old.beneficiary, payment_type=old.payment_type)

    def telling_ticks(self) -> list[int]:
        """Clock values not far off at which a floor meets a transaction, or a superseded window ends."""
        settings = self._plan.settings
        slack = settings.allowed_lateness + settings.max_disorder
        rules = self._plan.registry.alive()
        near = 30 * self._world.pace
        ends = [rule.effective_from + slack for rule in rules]
        floors = [sent.event_time + 1000 * rule.draft.window + slack for rule in rules for sent in self.sent]
        chosen = ends if self._rng.random() < 0.4 else self._bucket_ticks(slack) or floors
        return [tick for tick in chosen if self.clock < tick and abs(tick - self.wall) <= near]

    def _bucket_ticks(self, slack: int) -> list[int]:
        """At which one stands singly no longer, or its bucket is dropped."""
        drafts = [rule.draft for rule in self._plan.registry.alive()]
        lengths = [(1000 * draft.bucket, 1000 * draft.window) for draft in drafts if draft.bucket is not None]
        found: list[int] = []
        if not lengths or self._rng.random() < 0.5:
            return []
        for sent in self.sent:
            for length, window in lengths:
                behind = bucket_start(sent.event_time, length) + length
                found += [sent.event_time + length + slack, behind + window + slack]
        return found


def _edges(event_time: int, length: int, window: int) -> list[int]:
    """Ends of windows that begin with the bucket of that time, with its last millisecond, and just outside of it."""
    start = bucket_start(event_time, length)
    return [start + window + more for more in (-1, 0, 0, 1, length // 2, length - 1, length)]
