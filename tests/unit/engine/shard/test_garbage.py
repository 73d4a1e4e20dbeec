"""Garbage of every kind between good records: the engine says what the oracle says, and goes on."""

from __future__ import annotations

from random import Random

import pytest

from tests.e2e.support import garbage
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.judgement.oracle import judge
from tests.oracle.values.model import MicroBatch, Record
from tests.unit.engine.shard.test_against_oracle import canonical
from tests.unit.engine.support.shard_harness import Engine

T = 1_763_690_000_000
REGISTRY = Registry()
FIRST, SECOND = (REGISTRY.publish(n, draft("COUNT", ">=", "1", by=()), 0, T) for n in (1, 2))


def _short(value: bytes | None) -> str:
    return repr(value)[:40]


def good(offset: int) -> Record:
    return Record(0, offset, T, garbage.payment(offset, T))


def assert_equal(*batches: MicroBatch) -> None:
    expected, engine = judge(batches), Engine(shards=2)
    assert canonical(engine.run(list(batches))) == canonical(expected.alerts)
    assert sorted(engine.rejects()) == [(r.partition, r.offset, r.reason) for r in expected.rejects]
    # the good neighbours are judged
    assert {"good-900", "good-902"} <= {alert["transaction"]["transactionId"] for alert in engine.alerts()}


@pytest.mark.parametrize(
    "value", garbage.anything(Random(1)) + garbage.transactions(Random(1), T), ids=_short
)
def test_among_transactions(value: bytes | None) -> None:
    assert_equal(MicroBatch((FIRST,), (), (good(900), Record(0, 901, T, value), good(902))))


@pytest.mark.parametrize("value", garbage.anything(Random(1)) + garbage.rule_events(SECOND), ids=_short)
def test_among_rule_events(value: bytes | None) -> None:
    assert_equal(
        MicroBatch((FIRST, value or b""), (), (good(900),)), MicroBatch((SECOND,), (), (good(901), good(902)))
    )


@pytest.mark.parametrize("value", garbage.anything(Random(1)) + garbage.ticks(T + 10**9), ids=_short)
def test_among_ticks(value: bytes | None) -> None:
    ticks = (b'{"clock":%d}' % T, value or b"", b'{"clock":%d}' % (T + 1))
    assert_equal(MicroBatch((FIRST,), ticks, (good(900),)), MicroBatch((), (), (good(902),)))
