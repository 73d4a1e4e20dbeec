"""Groups are numbered once for all rules of a grouping, whatever their filters."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import draft
from tests.oracle.values.model import Json, MicroBatch, Record
from tests.unit.engine.support.shard_harness import Engine
from tripline_engine.domain.groups.groups import Groups

T = 1_700_000_000_000
GROUPING = ("payeeId", "paymentType")
CARD: Json = {"field": "paymentType", "operator": "=", "value": "CRD"}
DEAR: Json = {"field": "paymentAmount", "operator": ">", "value": "100"}
LONG_AFTER = T + 3 * 3_600_000


def payments(first: int, end: int, payees: int = 100) -> MicroBatch:
    """Of a hundred payees or another number, by card and in cash by turns; none is dear."""
    values = (
        f'{{"transactionId":"t{n}","eventTime":{T + n},"payeeId":"p{n % payees}","beneficiaryId":"b",'
        f'"paymentAmount":"1.5","paymentType":"{("CSH", "CRD")[n // 100 % 2]}"}}'
        for n in range(first, end)
    )
    records = tuple(Record(0, n, T + n, value.encode()) for n, value in enumerate(values, first))
    return MicroBatch((), (), records)


def tick(clock: int) -> MicroBatch:
    return MicroBatch((), (b'{"clock":%d}' % clock,), ())


def two_filters(registry: Registry) -> MicroBatch:
    """A rule for payments by card and one for dear ones, of the same grouping; nothing reaches their limits."""
    drafts = [draft("COUNT", ">", "1000000", by=GROUPING, only=only) for only in (CARD, DEAR)]
    events = tuple(registry.publish(number, draft, 0, 0) for number, draft in enumerate(drafts, 1))
    return MicroBatch(events, tick(T).ticks, ())


def groups_of(engine: Engine) -> dict[tuple[str, ...], Groups]:
    """The groups of the payees' anchor, as a worker that attaches finds them: they show nowhere else."""
    return engine.projection(0).anchors["payeeId"].windows.groups


@pytest.mark.parametrize("rebuilt", [False, True])
def test_populations_that_differ_by_their_filters_share_groups(rebuilt: bool, tmp_path: Path) -> None:
    engine, registry = Engine(1, tmp_path), Registry()
    engine.take(two_filters(registry))
    engine.take(payments(0, 400))
    later = registry.publish(3, draft("SUM", ">", "1000000", by=GROUPING), 0, 0)
    engine.take(MicroBatch((later,), (), ()))
    engine.take(payments(400, 800))
    if rebuilt:
        engine.forget()
        engine.take(payments(800, 801))
    (groups,) = groups_of(engine).values()
    # that three populations look at a payment does not make it count three times
    assert groups.table.used == 200
    assert groups.table.counts[: groups.table.end].sum() == (801 if rebuilt else 800)
    assert len(list(tmp_path.glob("shard-0/payeeId.groups.*.low"))) == 1


def test_a_group_is_held_as_long_as_it_has_a_payment_even_one_that_fails_the_filter(
    tmp_path: Path,
) -> None:
    engine, registry = Engine(1, tmp_path), Registry()
    rule = registry.publish(1, draft("COUNT", ">", "1", by=GROUPING, only=DEAR), 0, 0)
    engine.take(MicroBatch((rule,), (b'{"clock":%d}' % T,), ()))
    engine.take(payments(0, 200))
    assert groups_of(engine)[GROUPING].table.used == 200
    engine.take(tick(LONG_AFTER))
    assert groups_of(engine)[GROUPING].table.used == 0


def test_groups_are_removed_with_the_last_population(tmp_path: Path) -> None:
    engine, registry = Engine(1, tmp_path), Registry()
    engine.take(two_filters(registry))
    engine.take(payments(0, 200))
    for rule, left in ((1, 1), (2, 0)):
        engine.take(MicroBatch((registry.move("RuleDeleted", "DELETED", rule, T),), (), ()))
        # a version judges what is older than its end for a while
        engine.take(tick(LONG_AFTER))
        assert len(list(tmp_path.glob("shard-0/payeeId.groups.*.low"))) == left


def test_a_rule_may_be_published_when_all_rows_are_dropped_and_their_slots_are_free(tmp_path: Path) -> None:
    engine, registry = Engine(1, tmp_path), Registry()
    engine.take(tick(T))
    engine.take(payments(0, 5_000, payees=5_000))
    engine.take(tick(LONG_AFTER))
    assert engine.history_rows() == [0]
    rules = [
        registry.publish(n, draft(function, ">", "1", by=("payeeId",)), 0, LONG_AFTER)
        for n, function in enumerate(("COUNT", "SUM", "MAX"), 1)
    ]
    engine.take(MicroBatch(tuple(rules), (), ()))
    assert engine.rejects() == []
