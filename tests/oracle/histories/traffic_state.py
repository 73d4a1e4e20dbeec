"""The state of the traffic of a random history: the time of sending, the ticks and the payments so far."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tests.oracle.generators.payments import Payment, random_payment
from tests.oracle.generators.world import World
from tests.oracle.histories.rule_schedule import RuleSchedule


class TrafficState:
    """`wall` is the time of sending and `clock` the highest tick, both in ms; `sent` in the order of sending."""

    def __init__(self, rng: Random, world: World, schedule: RuleSchedule) -> None:
        self.wall = world.start
        self.clock = 0
        self.first_tick: int | None = None
        self.sent: list[Payment] = []
        self.rng = rng
        self.world = world
        self.schedule = schedule
        self._payments = 0

    def pause(self) -> int:
        """A random time until the next record, in ms."""
        return int(self.rng.expovariate(1) * self.world.pace)

    def payment(self, event_time: int, record_time: int) -> Payment:
        """A new payment of random keys and amount."""
        self._payments += 1
        name = str(self._payments) if self.rng.random() < 0.5 else f"t-{self._payments}"
        return random_payment(self.rng, self.world, name, event_time, record_time)

    def again(self, old: Payment, event_time: int) -> Payment:
        """A new payment, on record now, of the same keys."""
        fresh = self.payment(event_time, self.wall)
        return replace(fresh, payee=old.payee, beneficiary=old.beneficiary, payment_type=old.payment_type)
