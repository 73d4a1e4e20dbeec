"""Random histories: the same seed and profile always give the same one."""

from __future__ import annotations

from random import Random

from tests.oracle.generators.profile import Profile
from tests.oracle.generators.world import World, random_world
from tests.oracle.histories.rule_schedule import RuleSchedule
from tests.oracle.histories.trace_commands import with_traces
from tests.oracle.histories.traffic import Traffic
from tests.oracle.values.model import MicroBatch, Record
from tests.oracle.values.schema import LAST_TIME

_DEFAULT = Profile()


def random_history(seed: int, profile: Profile = _DEFAULT) -> list[MicroBatch]:
    """A history of raw records, rule events and ticks, cut into micro-batches."""
    rng = Random(seed)
    world = random_world(rng, profile)
    sizes = _cut(rng, world.transactions, rng.randint(*profile.micro_batches))
    plan = RuleSchedule(rng, world, profile, len(sizes))
    traffic = Traffic(rng, world, profile, plan)
    first_tick = _first_ticking_batch(rng, profile, len(sizes))
    batches: list[MicroBatch] = []
    for number, size in enumerate(sizes):
        events = plan.events(number, min(traffic.wall, LAST_TIME), traffic.sent)
        if number and rng.random() < profile.jump_per_batch:
            traffic.wall += _jump(rng, plan)
        ticks = _ticks(rng, world, profile, plan, traffic) if number >= first_tick else ()
        records = [traffic.record() for _ in range(size)]
        batches.append(MicroBatch(events, ticks, tuple(_interleaved(rng, records))))
    return with_traces(Random(f"traces {seed}"), profile, batches)


def joined(seed: int, share: float, batches: list[MicroBatch]) -> list[MicroBatch]:
    """The history with that share of its micro-batches joined to the one before them, as Spark does with what waits.

    So rule events and ticks come before transactions that were sent before them: it is another history.
    """
    rng = Random(f"joined {seed}")
    together = batches[:1]
    for batch in batches[1:]:
        if rng.random() < share:
            before = together.pop()
            batch = MicroBatch(  # noqa: PLW2901  # what came of the two
                before.rule_events + batch.rule_events,
                before.ticks + batch.ticks,
                before.records + batch.records,
            )
        together.append(batch)
    return together


def _cut(rng: Random, total: int, parts: int) -> list[int]:
    cuts = sorted(rng.randint(0, total) for _ in range(parts - 1))
    return [after - before for before, after in zip([0, *cuts], [*cuts, total], strict=True)]


def _first_ticking_batch(rng: Random, profile: Profile, batches: int) -> int:
    style = rng.random()
    if style < profile.no_ticks:
        return batches
    return rng.randint(0, batches - 1) if style < profile.no_ticks + profile.late_first_tick else 0


def _jump(rng: Random, plan: RuleSchedule) -> int:
    """Long enough for some rule's whole history to expire."""
    windows = [1000 * rule.draft.window for rule in plan.registry.alive()] or [0]
    settings = plan.settings
    slack = settings.allowed_lateness + settings.max_disorder
    return rng.choice(windows) + slack + rng.choice([0, 1, rng.randint(0, slack)])


def _ticks(
    rng: Random, world: World, profile: Profile, plan: RuleSchedule, traffic: Traffic
) -> tuple[bytes, ...]:
    """Forward mostly, sometimes standing still, sometimes back."""
    values: list[int] = []
    aims = traffic.telling_ticks()
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        style = rng.random()
        lag = rng.randint(0, min(5 * world.pace, plan.settings.max_disorder))
        value = traffic.wall - lag
        if traffic.clock and style < 0.15:
            value = traffic.clock
        elif traffic.clock and style < 0.25:
            value = traffic.clock - rng.randint(1, 10 * world.pace)
        elif aims and style < 0.25 + profile.aimed_per_tick:
            value = rng.choice(aims) + rng.choice([0, 0, 1])
            traffic.wall = max(traffic.wall, value)
        values.append(min(max(0, value), LAST_TIME))
        traffic.clock = max(traffic.clock, values[-1])
        traffic.first_tick = values[0] if traffic.first_tick is None else traffic.first_tick
    return tuple(b'{"clock":%d}' % value for value in values)


def _interleaved(rng: Random, records: list[Record]) -> list[Record]:
    """Another order of arrival that keeps each partition's."""
    queues: dict[int, list[Record]] = {}
    for record in records:
        queues.setdefault(record.partition, []).append(record)
    mixed: list[Record] = []
    while queues:
        partition = rng.choice(sorted(queues))
        mixed.append(queues[partition].pop(0))
        if not queues[partition]:
            del queues[partition]
    return mixed
