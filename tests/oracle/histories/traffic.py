"""The records of a random history: mostly in order, and every way of not being so."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.generators.payments import Payment, payment_value
from tests.oracle.generators.profile import Profile
from tests.oracle.histories import disorder, edges
from tests.oracle.histories.traffic_state import TrafficState
from tests.oracle.malformed.records import broken_value, largest_value
from tests.oracle.values.model import Record


class Traffic:
    """Makes one record after another: mostly in order, and every way of not being so."""

    def __init__(self, state: TrafficState, profile: Profile) -> None:
        self._state = state
        self._offsets = [state.rng.randint(0, 5) for _ in range(state.world.partitions)]
        kinds: list[tuple[float, Callable[[TrafficState], Payment]]] = [
            (profile.late, disorder.late),
            (profile.too_late, disorder.too_late),
            (profile.future, disorder.future),
            (profile.out_of_order, disorder.out_of_order),
            (profile.duplicate, disorder.duplicate),
            (profile.null_key, disorder.null_key),
            (profile.equal_time, disorder.equal_time),
            (profile.window_edge, edges.window_edge),
            (profile.oldest, disorder.oldest),
            (profile.warm_edge, edges.warm_edge),
            (profile.start_edge, edges.start_edge),
            (profile.silence_edge, edges.silence_edge),
            (profile.late_twin, disorder.late_twin),
            (profile.cooldown_edge, edges.cooldown_edge),
            (0.08 if profile.bucketed > 0 else 0, edges.bucket_edge),
            (0.08 if profile.commands > 0 else 0, disorder.backfilled),
        ]
        self._clears = 0
        self._twins_after_clear = 4 if profile.late_twin > 0 else 0
        self._twins_due = 0
        self._broken = profile.broken
        self._makers = [maker for _, maker in kinds] + [disorder.ordinary]
        shares = [share for share, _ in kinds]
        self._shares = [*shares, max(0.05, 1 - sum(shares))]

    def record(self) -> Record:
        """The next record of some partition; offsets may have gaps, as compaction and transactions leave."""
        partition = self._state.rng.randrange(self._state.world.partitions)
        offset = self._offsets[partition]
        self._offsets[partition] += self._state.rng.choice([1] * 9 + [3])
        if self._state.rng.random() < self._broken:
            self._state.wall += self._state.pause()
            value = broken_value(self._state.rng, self._state.wall)
            backfills = self._state.schedule.commands.backfills
            header = self._state.rng.choice([None, *backfills]) if backfills else None
            return Record(partition, offset, max(0, self._state.wall), value, header)
        if self._state.rng.random() < 0.003:
            return Record(partition, offset, max(0, self._state.wall), largest_value(self._state.wall))
        payment = self._next()
        self._state.sent.append(payment)
        value = payment_value(self._state.rng, payment)
        return Record(partition, offset, max(0, payment.record_time), value, payment.backfill)

    def _next(self) -> Payment:
        if self._state.schedule.clears > self._clears:
            # What a clear has forgotten must not make anything late, but its ids are remembered.
            self._clears, self._twins_due = self._state.schedule.clears, self._twins_after_clear
        if self._twins_due and self._state.rng.random() < 0.6:
            self._twins_due -= 1
            return self._state.rng.choice([disorder.late_twin, disorder.late_twin, disorder.duplicate])(
                self._state
            )
        return self._state.rng.choices(self._makers, self._shares)[0](self._state)
