"""Random histories: the same seed and profile always give the same one."""

from __future__ import annotations

from random import Random

from tests.oracle.generators.profile import Profile
from tests.oracle.generators.world import random_world
from tests.oracle.histories.rule_schedule import RuleSchedule
from tests.oracle.histories.ticks import random_ticks
from tests.oracle.histories.trace_commands import with_traces
from tests.oracle.histories.traffic import Traffic
from tests.oracle.histories.traffic_state import TrafficState
from tests.oracle.values.model import MicroBatch, Record
from tests.oracle.values.schema import LAST_TIME

_DEFAULT = Profile()


def random_history(seed: int, profile: Profile = _DEFAULT) -> list[MicroBatch]:
    """A history of raw records, rule events and ticks, cut into micro-batches."""
    rng = Random(seed)
    world = random_world(rng, profile)
    sizes = _cut(rng, world.transactions, rng.randint(*profile.micro_batches))
    schedule = RuleSchedule(rng, world, profile, len(sizes))
    state = TrafficState(rng, world, schedule)
    traffic = Traffic(state, profile)
    first_tick = _first_ticking_batch(rng, profile, len(sizes))
    batches: list[MicroBatch] = []
    for number, size in enumerate(sizes):
        events = schedule.events(number, min(state.wall, LAST_TIME), state.sent)
        if number and rng.random() < profile.jump_per_batch:
            state.wall += _jump(rng, schedule)
        ticks = random_ticks(state, profile) if number >= first_tick else ()
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


def _jump(rng: Random, schedule: RuleSchedule) -> int:
    """Long enough for some rule's whole history to expire."""
    windows = [1000 * rule.draft.window for rule in schedule.registry.alive()] or [0]
    settings = schedule.settings
    slack = settings.allowed_lateness + settings.max_disorder
    return rng.choice(windows) + slack + rng.choice([0, 1, rng.randint(0, slack)])


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
