"""Ticks of a random history: forward mostly, some where a floor or a version changes what is seen."""

from __future__ import annotations

from tests.oracle.generators.profile import Profile
from tests.oracle.histories.traffic_state import TrafficState
from tests.oracle.values.schema import LAST_TIME
from tests.oracle.windows.bucket_times import bucket_start


def random_ticks(state: TrafficState, profile: Profile) -> tuple[bytes, ...]:
    """Forward mostly, sometimes standing still, sometimes back."""
    values: list[int] = []
    aims = edge_ticks(state)
    for _ in range(state.rng.choice([0, 1, 1, 2, 3])):
        style = state.rng.random()
        lag = state.rng.randint(0, min(5 * state.world.pace, state.schedule.settings.max_disorder))
        value = state.wall - lag
        if state.clock and style < 0.15:
            value = state.clock
        elif state.clock and style < 0.25:
            value = state.clock - state.rng.randint(1, 10 * state.world.pace)
        elif aims and style < 0.25 + profile.aimed_per_tick:
            value = state.rng.choice(aims) + state.rng.choice([0, 0, 1])
            state.wall = max(state.wall, value)
        values.append(min(max(0, value), LAST_TIME))
        state.clock = max(state.clock, values[-1])
        state.first_tick = values[0] if state.first_tick is None else state.first_tick
    return tuple(b'{"clock":%d}' % value for value in values)


def edge_ticks(state: TrafficState) -> list[int]:
    """Clock values not far off at which a floor meets a transaction, or a superseded window ends."""
    settings = state.schedule.settings
    slack = settings.allowed_lateness + settings.max_disorder
    rules = state.schedule.registry.alive()
    near = 30 * state.world.pace
    ends = [rule.effective_from + slack for rule in rules]
    floors = [sent.event_time + 1000 * rule.draft.window + slack for rule in rules for sent in state.sent]
    chosen = ends if state.rng.random() < 0.4 else _bucket_ticks(state, slack) or floors
    return [tick for tick in chosen if state.clock < tick and abs(tick - state.wall) <= near]


def _bucket_ticks(state: TrafficState, slack: int) -> list[int]:
    """Clock values at which a payment is merged into its bucket, or its bucket is dropped."""
    drafts = [rule.draft for rule in state.schedule.registry.alive()]
    lengths = [(1000 * draft.bucket, 1000 * draft.window) for draft in drafts if draft.bucket is not None]
    clocks: list[int] = []
    if not lengths or state.rng.random() < 0.5:
        return []
    for sent in state.sent:
        for length, window in lengths:
            behind = bucket_start(sent.event_time, length) + length
            clocks += [sent.event_time + length + slack, behind + window + slack]
    return clocks
