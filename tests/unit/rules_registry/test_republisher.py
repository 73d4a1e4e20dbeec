"""The rules topic written anew: into an empty one only, alone, and gone on with where it was cut off."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from rules_registry.errors import CannotRepublish, DeliveryFailed
from rules_registry.service.relay import BATCH
from rules_registry.service.republisher import republish
from tests.unit.rules_registry.support.faulty_relay_ports import FakeOutbox, FakePublisher, World


@dataclass
class FakeTopic:
    held: int | None = 0

    def records(self) -> int | None:
        return self.held


def run(world: World, topic: FakeTopic, since: int | None = None) -> int:
    return republish(FakeOutbox(world), topic, FakePublisher(world), since)


def test_the_whole_log_goes_out_whatever_was_delivered_before() -> None:
    world = World(end=BATCH + 2, cursor=BATCH)
    assert run(world, FakeTopic()) == BATCH + 2
    assert world.kafka == list(range(1, BATCH + 3))
    assert world.cursor == BATCH + 2


def test_an_empty_log_is_republished_too() -> None:
    assert run(World(end=0), FakeTopic()) == 0


@pytest.mark.parametrize(
    ("held", "locked", "said"),
    [(3, 0, "3 records"), (None, 0, "no topic rules.v1"), (0, 1, "relay is active")],
)
def test_otherwise_it_is_refused_and_nothing_moves(held: int | None, locked: int, said: str) -> None:
    world = World(end=4, cursor=2, locked_by_another=locked)
    with pytest.raises(CannotRepublish, match=said):
        run(world, FakeTopic(held))
    assert (world.kafka, world.cursor) == ([], 2)


def test_where_it_is_cut_off_the_relay_goes_on() -> None:
    world = World(end=4, cursor=4, faults={"deliver": [DeliveryFailed("half")]})
    with pytest.raises(DeliveryFailed):
        run(world, FakeTopic())
    world.relay()[0].run()
    assert world.kafka == [1, 2, 1, 2, 3, 4]
    assert world.cursor == 4


def test_from_a_position_on_it_goes_into_a_topic_that_has_records() -> None:
    world = World(end=5, cursor=5)
    assert run(world, FakeTopic(5), since=4) == 2
    assert (world.kafka, world.cursor) == ([4, 5], 5)


def test_never_beyond_what_the_relay_has_delivered() -> None:
    world = World(end=5, cursor=2)
    assert run(world, FakeTopic(2), since=4) == 3
    assert (world.kafka, world.cursor) == ([3, 4, 5], 5)


@pytest.mark.parametrize("since", [6, 100])
def test_a_position_that_there_is_not_is_refused(since: int) -> None:
    world = World(end=5, cursor=5)
    with pytest.raises(CannotRepublish, match=f"no position {since}: it ends at 5"):
        run(world, FakeTopic(5), since=since)
    assert (world.kafka, world.cursor) == ([], 5)
