"""The relay between a log and a Kafka that fail as told: in order, at least once, nothing left out."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from rules_registry.errors import DeliveryFailed, RelayCursorAhead, RelayCursorMoved, StoreUnavailable
from rules_registry.service.relay import BATCH, SILENT_SECONDS, STALE_SECONDS
from tests.unit.rules_registry.support.faulty_relay_ports import World


def taken(kafka: list[int]) -> list[int]:
    """What a reader has that ignores positions it has passed."""
    positions: list[int] = []
    for position in kafka:
        if not positions or position > positions[-1]:
            positions.append(position)
    return positions


def test_everything_goes_out_in_batches() -> None:
    world = World(end=2 * BATCH + 1)
    relay, metrics = world.relay()
    relay.run()
    assert world.kafka == list(range(1, 2 * BATCH + 2))
    assert world.cursor == 2 * BATCH + 1
    assert metrics.get_sample_value("tripline_relay_delivered_total") == 2 * BATCH + 1
    assert metrics.get_sample_value("tripline_relay_position") == 2 * BATCH + 1
    assert metrics.get_sample_value("tripline_relay_active") == 0, "it has let go"


def test_it_begins_at_its_cursor() -> None:
    world = World(end=9, cursor=7)
    world.relay()[0].run()
    assert world.kafka == [8, 9]


FAULTS: list[tuple[str, Exception, list[int], str]] = [
    ("connect", StoreUnavailable("down"), [1, 2, 3, 4], "no database at first"),
    ("read", StoreUnavailable("down"), [1, 2, 3, 4], "the database goes away"),
    ("deliver", DeliveryFailed("half"), [1, 2, 1, 2, 3, 4], "half of the batch arrived"),
    ("advance", StoreUnavailable("down"), [1, 2, 3, 4, 1, 2, 3, 4], "delivered, and the cursor did not move"),
    ("advance", RelayCursorMoved("moved"), [1, 2, 3, 4, 1, 2, 3, 4], "somebody moved the cursor"),
]


@pytest.mark.parametrize(("step", "fault", "kafka", "reason"), FAULTS, ids=[case[-1] for case in FAULTS])
def test_after_a_fault_it_begins_again(step: str, fault: Exception, kafka: list[int], reason: str) -> None:
    world = World(end=4, faults={step: [fault]})
    relay, metrics = world.relay()
    relay.run()
    assert world.kafka == kafka, reason
    assert taken(world.kafka) == [1, 2, 3, 4]
    assert world.cursor == 4
    assert world.sessions == 2
    labels = {"error": type(fault).__name__}
    assert metrics.get_sample_value("tripline_relay_failures_total", labels) == 1


def test_a_fault_of_ours_is_not_retried() -> None:
    world = World(end=4, faults={"read": [ZeroDivisionError()]})
    with pytest.raises(ZeroDivisionError):
        world.relay()[0].run()


def test_it_waits_while_another_one_is_active() -> None:
    world = World(end=2, locked_by_another=1)
    relay, _ = world.relay()
    relay.run()
    assert world.kafka == [1, 2]


def test_stopped_while_it_waits_it_delivers_nothing() -> None:
    world = World(end=2, locked_by_another=10**6)
    relay, _ = world.relay()
    world.stop.set()
    relay.run()
    assert world.kafka == []


def test_it_is_ready_while_it_sees_the_database() -> None:
    now = [100.0]
    world = World(end=0)
    relay, _ = world.relay(lambda: now[0])
    with pytest.raises(StoreUnavailable):
        relay.check()
    relay.run()
    relay.check()
    now[0] += STALE_SECONDS + 1
    with pytest.raises(StoreUnavailable):
        relay.check()


def test_with_nothing_to_deliver_it_is_ready_while_kafka_answers() -> None:
    now = [100.0]
    world = World(end=2)
    relay, _ = world.relay(lambda: now[0])

    def later(*, kafka_answers: bool) -> None:
        relay.check()
        world.kafka_answers = kafka_answers
        now[0] += SILENT_SECONDS

    def silent() -> None:
        now[0] += 1
        with pytest.raises(DeliveryFailed, match="Kafka has not answered for 30 s"):
            relay.check()
        world.kafka_answers = True

    world.while_it_waits += [
        lambda: later(kafka_answers=True),
        lambda: later(kafka_answers=True),
        lambda: later(kafka_answers=False),
        silent,
        relay.check,
    ]
    relay.run()
    assert not world.while_it_waits


def test_while_deliveries_fail_it_is_not_ready_and_standing_by_it_need_not_see_kafka() -> None:
    now = [100.0]
    world = World(end=4, faults={"deliver": [DeliveryFailed("down")]})
    relay, _ = world.relay(lambda: now[0])
    original = world.fail_if_told

    def slow(step: str) -> None:
        if step == "deliver" and world.faults["deliver"]:
            now[0] += SILENT_SECONDS + 1
        if step == "read" and world.sessions == 2 and not world.kafka[2:]:
            with pytest.raises(DeliveryFailed):
                relay.check()
        original(step)

    world.fail_if_told = slow  # type: ignore[method-assign]
    relay.run()
    relay.check()
    world.stop.clear()
    world.locked_by_another = 1
    now[0] += SILENT_SECONDS + 1
    relay.run()
    relay.check()


def test_a_cursor_beyond_the_log_is_refused_until_somebody_puts_it_right() -> None:
    world = World(end=4, cursor=1004)
    relay, _ = world.relay()

    def not_ready() -> None:
        with pytest.raises(RelayCursorAhead, match=r"at 1004, .* ended at 4: .*republish --from POSITION"):
            relay.check()
        world.end = 1010  # grown past the cursor, which is as wrong as before

    def put_right() -> None:
        not_ready()
        assert world.kafka == []
        world.cursor = 4

    world.while_it_waits += [not_ready, put_right]
    with capture_logs() as logs:
        relay.run()
    assert [entry["event"] for entry in logs].count("relay cursor refused") == 1
    relay.check()
    assert world.kafka == list(range(5, 1011))


def test_stopped_while_it_refuses_its_cursor_it_leaves_it() -> None:
    world = World(end=4, cursor=1004)
    world.relay()[0].run()
    assert (world.cursor, world.kafka) == (1004, [])
