"""Ticks as a shard reads them: range, form, and the broker's own time."""

from __future__ import annotations

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.unit.engine.support.shard_harness import Engine
from tripline_engine.domain.shard.ports import Kind, Payload
from tripline_engine.domain.shard.tick import (
    MAX_TICK_BYTES,
    SKEW_MS,
    TickAhead,
    UnreadableTick,
    read_tick,
    tick_payload,
)

NOW = 1_763_690_000_000


def tick(clock: int) -> bytes:
    return b'{"clock":%d}' % clock


TOO_LONG = tick(NOW) + b" " * MAX_TICK_BYTES


@pytest.mark.parametrize("clock", [0, NOW, NOW + SKEW_MS])
def test_up_to_a_little_ahead_of_the_records_time_it_is_read(clock: int) -> None:
    assert read_tick(tick_payload(NOW, tick(clock)), "wall") == clock


@pytest.mark.parametrize("clock", [NOW + SKEW_MS + 1, NOW + 86_400_000, 253_402_300_799_999])
def test_further_ahead_it_is_refused(clock: int) -> None:
    with pytest.raises(TickAhead, match="ahead of the record's own time"):
        read_tick(tick_payload(NOW, tick(clock)), "wall")
    assert read_tick(tick_payload(NOW, tick(clock)), "data") == clock


@pytest.mark.parametrize(
    "value", [None, b"", b"{", b"[1]", b'{"clock":-1}', b'{"clock":true}', tick(2**53), TOO_LONG]
)
def test_anything_else_is_unreadable(value: bytes | None) -> None:
    with pytest.raises(UnreadableTick):
        read_tick(tick_payload(NOW, value), "wall")


def test_a_record_without_a_time_is_of_the_beginning() -> None:
    with pytest.raises(TickAhead):
        read_tick(tick_payload(-1, tick(NOW)), "wall")


def test_a_forged_tick_leaves_a_shard_its_eyes() -> None:
    """The record that blinded detection for good: a clock of next day, and everything after it was too late."""
    engine = Engine(clock="wall")
    engine.take(batch(events=[Registry().publish(1, draft("COUNT", ">=", "1", by=()), 0, 0)]))
    forged = [
        Payload(Kind.TICK, tick_payload(NOW, tick(clock)), n)
        for n, clock in enumerate((NOW, NOW + 86_400_000))
    ]
    _, counters = engine.attempt(0, forged)
    engine.logs[0].commit()
    assert counters["refused_ticks"] == 1
    engine.take(batch(records=[payment(1, NOW)]))
    assert [alert["transaction"]["transactionId"] for alert in engine.alerts()] == ["t1"]
    assert engine.rejects() == []
