"""Payments in order, and every way of not being so: late, ahead, twice, without a key, backfilled."""

from __future__ import annotations

from dataclasses import replace

from tests.oracle.generators.payments import Payment
from tests.oracle.histories.traffic_state import TrafficState


def ordinary(state: TrafficState) -> Payment:
    state.wall += state.pause()
    settings = state.schedule.settings
    slack = min(settings.max_disorder, settings.allowed_lateness, 3 * state.world.pace) // 2
    record_time = state.wall - (state.rng.randint(0, slack) if state.rng.random() < 0.3 else 0)
    delay = state.rng.randint(0, slack) if state.rng.random() < 0.3 else 0
    return state.payment(record_time - delay, record_time)


def late(state: TrafficState) -> Payment:
    lateness = state.schedule.settings.allowed_lateness
    delay = min(lateness, state.rng.randint(0, 40 * state.world.pace))
    if state.rng.random() < 0.1:
        delay = lateness
    return state.payment(state.wall - delay, state.wall)


def too_late(state: TrafficState) -> Payment:
    beyond = state.rng.choice([1, 1, state.rng.randint(1, 20 * state.world.pace)])
    return state.payment(state.wall - state.schedule.settings.allowed_lateness - beyond, state.wall)


def future(state: TrafficState) -> Payment:
    beyond = state.rng.choice([0, 0, 1, state.rng.randint(1, 20 * state.world.pace)])
    return state.payment(state.wall + state.schedule.settings.max_future_skew + beyond, state.wall)


def out_of_order(state: TrafficState) -> Payment:
    if not state.clock:
        return ordinary(state)
    beyond = state.rng.choice([0, 1, 1, state.rng.randint(1, 20 * state.world.pace)])
    record_time = state.clock - state.schedule.settings.max_disorder - beyond
    return state.payment(record_time, record_time)


def null_key(state: TrafficState) -> Payment:
    payment = ordinary(state)
    style = state.rng.randrange(4)
    if style == 0:
        return replace(payment, payee=None)
    if style == 1:
        return replace(payment, beneficiary=None)
    if style == 2:
        return replace(payment, payment_type=None)
    return replace(payment, payee=None, beneficiary=None)


def equal_time(state: TrafficState) -> Payment:
    near = [sent for sent in state.sent[-12:] if abs(sent.event_time - state.wall) < 20 * state.world.pace]
    if not near:
        return ordinary(state)
    other = state.rng.choice(near)
    twin = state.payment(other.event_time, state.wall)
    return replace(other, transaction_id=twin.transaction_id) if state.rng.random() < 0.3 else twin


def duplicate(state: TrafficState) -> Payment:
    if not state.sent:
        return ordinary(state)
    old = state.rng.choice(state.sent[-20:])
    style = state.rng.randrange(5)
    if style == 0:
        return replace(old, record_time=max(old.record_time, state.wall))
    if style == 1:
        return replace(old, beneficiary=state.rng.choice(state.world.beneficiaries))
    if style == 2:
        return replace(
            old, payee=state.rng.choice(state.world.payees), event_time=state.wall, record_time=state.wall
        )
    settings = state.schedule.settings
    reach = settings.allowed_lateness + settings.max_future_skew
    if style == 3:
        return replace(state.rng.choice(state.sent), event_time=state.wall, record_time=state.wall)
    return _at_reach(state, reach + state.rng.choice([0, 0, 1]))


def _at_reach(state: TrafficState, reach: int) -> Payment:
    """Again under the same id, exactly so much later, where that is not far from now."""
    ahead = [old for old in state.sent if 0 <= old.record_time + reach - state.wall <= 20 * state.world.pace]
    if not ahead:
        return ordinary(state)
    old = state.rng.choice(ahead)
    state.wall = old.record_time + reach
    return replace(old, event_time=state.wall, record_time=state.wall)


def oldest(state: TrafficState) -> Payment:
    """As old as the clock just lets in, or a little older: where floors and history meet."""
    if not state.clock:
        return ordinary(state)
    settings = state.schedule.settings
    record_time = state.clock - settings.max_disorder
    beyond = state.rng.choice([0, 0, 0, 1])
    return state.payment(record_time - settings.allowed_lateness - beyond, record_time)


def late_twin(state: TrafficState) -> Payment:
    """Just before another of the same keys that was sent a moment ago."""
    if not state.sent:
        return ordinary(state)
    old = state.rng.choice(state.sent[-6:])
    lateness = state.schedule.settings.allowed_lateness
    back = state.rng.choice([1, 1, state.rng.randint(1, 3 * state.world.pace)])
    return state.again(old, max(0, old.event_time - back, state.wall - lateness))


def backfilled(state: TrafficState) -> Payment:
    """Of long ago, mostly under a backfill that stands; one of the same keys perhaps, or a copy."""
    rng, plan, commands = state.rng, state.schedule, state.schedule.commands
    if not commands.backfills:
        return ordinary(state)
    backfill_ids = (
        commands.standing if commands.standing and rng.random() < 0.8 else [*commands.backfills, "?"]
    )
    name = rng.choice(backfill_ids)
    style = rng.random()
    if style < 0.08 and state.sent:
        return replace(rng.choice(state.sent[-20:]), record_time=state.wall, backfill=name)
    if style < 0.12:
        return replace(future(state), backfill=name)
    windows = [1000 * rule.draft.window for rule in plan.registry.alive()] or [0]
    back = rng.randint(0, rng.choice([*windows, 40 * state.world.pace]))
    record_time = state.wall
    if style < 0.3 and state.clock:
        record_time = max(0, state.clock - plan.settings.max_disorder - rng.randint(0, 5 * state.world.pace))
    payment = state.payment(max(0, state.wall - back), record_time)
    if style < 0.6 and state.sent:
        old = rng.choice(state.sent[-30:])
        payment = replace(payment, payee=old.payee, beneficiary=old.beneficiary)
    return replace(payment, backfill=name)
