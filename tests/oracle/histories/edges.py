"""Payments on the edges of windows, buckets, cooldowns and versions."""

from __future__ import annotations

from dataclasses import replace

from tests.oracle.builders.drafts import conditions_of, measures_of
from tests.oracle.generators.payments import Payment
from tests.oracle.histories.disorder import ordinary
from tests.oracle.histories.traffic_state import TrafficState
from tests.oracle.windows.bucket_times import bucket_start


def window_edge(state: TrafficState) -> Payment:
    """So that an earlier one of the same keys lies on an edge of some rule's window, or just outside."""
    drafts = [rule.draft for rule in state.schedule.registry.alive()]
    windows = [1000 * condition.window for draft in drafts for condition in conditions_of(draft)]
    relative = [part for draft in drafts for part in measures_of(draft) if part.is_relative]
    windows += [1000 * edge for part in relative for edge in (part.offset, part.window + part.offset)]
    reach = 20 * state.world.pace
    edges = [
        (old, old.event_time + window)
        for old in state.sent
        for window in windows
        if -reach <= old.event_time + window - state.wall <= reach
    ]
    if not edges:
        return ordinary(state)
    old, edge = state.rng.choice(edges)
    event_time = edge + state.rng.choice([0, 0, 1])
    state.wall = max(state.wall, event_time)
    fresh = state.payment(event_time, state.wall)
    return replace(fresh, payee=old.payee, beneficiary=old.beneficiary, payment_type=old.payment_type)


def warm_edge(state: TrafficState) -> Payment:
    """Exactly one window after the first tick, or just before that."""
    first = state.first_tick
    reach = 20 * state.world.pace
    windows = [1000 * rule.draft.window for rule in state.schedule.registry.alive()]
    edges = (
        [first + window for window in windows if abs(first + window - state.wall) <= reach] if first else []
    )
    if not edges:
        return ordinary(state)
    event_time = state.rng.choice(edges) - state.rng.choice([0, 1])
    state.wall = max(state.wall, event_time)
    return state.payment(event_time, state.wall)


def start_edge(state: TrafficState) -> Payment:
    """Exactly where a definition begins or ceases to judge, or just before."""
    reach = 20 * state.world.pace
    alive = state.schedule.registry.alive()
    edges = [rule.effective_from for rule in alive]
    edges += [rule.effective_until for rule in alive if rule.effective_until is not None]
    near = [edge for edge in edges if abs(edge - state.wall) <= reach]
    if not near:
        return ordinary(state)
    event_time = max(0, state.rng.choice(near) - state.rng.choice([0, 0, 1]))
    state.wall = max(state.wall, event_time)
    return state.payment(event_time, state.wall)


def silence_edge(state: TrafficState) -> Payment:
    """One window after the newest of its keys, or just after that: an evaluation expires there."""
    windows = [1000 * rule.draft.window for rule in state.schedule.registry.alive()]
    short = [window for window in windows if window <= 30 * state.world.pace]
    if not short or not state.sent:
        return ordinary(state)
    old = state.rng.choice(state.sent[-15:])
    newest = max(
        sent.event_time
        for sent in state.sent
        if (sent.payee, sent.beneficiary) == (old.payee, old.beneficiary)
    )
    event_time = newest + state.rng.choice(short) + state.rng.choice([0, 0, 1])
    state.wall = max(state.wall, event_time)
    return state.again(old, event_time)


def cooldown_edge(state: TrafficState) -> Payment:
    """One cooldown after another of the same keys, which may have alerted, or just before that."""
    drafts = [rule.draft for rule in state.schedule.registry.alive()]
    cooldowns = [1000 * draft.cooldown for draft in drafts if draft.cooldown is not None]
    reach = 20 * state.world.pace
    ends = [
        (old, old.event_time + cooldown)
        for old in state.sent
        for cooldown in cooldowns
        if -reach <= old.event_time + cooldown - state.wall <= reach
    ]
    if not ends:
        return ordinary(state)
    old, end = state.rng.choice(ends)
    event_time = end - state.rng.choice([0, 0, 1])
    state.wall = max(state.wall, event_time)
    return state.again(old, event_time)


def bucket_edge(state: TrafficState) -> Payment:
    """So that a window begins just where the bucket of an earlier one of the same keys does, or ends there."""
    drafts = [rule.draft for rule in state.schedule.registry.alive()]
    lengths = [
        (1000 * draft.bucket, 1000 * condition.window)
        for draft in drafts
        if draft.bucket is not None
        for condition in conditions_of(draft)
    ]
    reach = 20 * state.world.pace
    edges = [
        (old, edge)
        for old in state.sent
        for length, window in lengths
        for edge in _bucket_edges(old.event_time, length, window)
        if abs(edge - state.wall) <= reach
    ]
    if not edges:
        return ordinary(state)
    old, event_time = state.rng.choice(edges)
    state.wall = max(state.wall, event_time)
    return state.again(old, event_time)


def _bucket_edges(event_time: int, length: int, window: int) -> list[int]:
    """Ends of windows that begin with the bucket of that time, with its last millisecond, and just outside of it."""
    start = bucket_start(event_time, length)
    return [start + window + more for more in (-1, 0, 0, 1, length // 2, length - 1, length)]
