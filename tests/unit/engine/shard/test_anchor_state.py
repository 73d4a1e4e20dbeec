"""An anchor's arrays and its log change together, and the log is read only when something has to be built from it."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.unit.engine.support.segments import rows
from tests.unit.engine.support.shard_harness import TRANSACTION, DictLog, Engine
from tripline_engine.domain.history.history_columns import VOIDED
from tripline_engine.domain.judging.anchor import Anchor, AnchorSchema
from tripline_engine.domain.memory.arena import HeapArena
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.rules.window_plan import WindowPlan
from tripline_engine.domain.shard.anchor_rebuild import rebuild_anchor
from tripline_engine.domain.shard.anchor_state import AnchorState
from tripline_engine.domain.state_log.anchor_log import AnchorLog
from tripline_engine.domain.transactions.hash_key import HashKey

ANCHOR = "payeeId"
T = 1_700_000_000_000


def arrays() -> Anchor:
    schema = AnchorSchema(ANCHOR, TRANSACTION, HashKey(1, 2))
    return Anchor(HeapArena(), schema, NamedValues(), WindowPlan.empty())


def state(log: AnchorLog, watermarks: Watermarks) -> AnchorState:
    return AnchorState(arrays(), log, watermarks, TRANSACTION.time_field.name)


def test_accepted_rows_are_in_the_arrays_and_in_the_log() -> None:
    log, watermarks = AnchorLog.empty(DictLog(), ANCHOR, TRANSACTION), Watermarks.new(TRANSACTION)
    anchor = state(log, watermarks)
    anchor.judge(rows(0, 5), RuleBook(TRANSACTION))
    assert anchor.arrays.history.end == anchor.log.rows == 5


def test_arrays_rebuilt_from_the_log_are_those_that_were_lost() -> None:
    log, watermarks = AnchorLog.empty(DictLog(), ANCHOR, TRANSACTION), Watermarks.new(TRANSACTION)
    lost = state(log, watermarks)
    lost.judge(rows(0, 5), RuleBook(TRANSACTION))
    lost.void("t3", 3, position=7)
    rebuilt = state(log, watermarks)
    rebuild_anchor(rebuilt, WindowPlan.empty(), watermarks, TRANSACTION)
    before, after = lost.arrays.history, rebuilt.arrays.history
    assert after.time[: after.end].tolist() == before.time[: before.end].tolist()
    for history in (before, after):
        voided = history.marked(VOIDED, 0, 5)
        assert voided is not None
        assert voided.tolist() == [False, False, False, True, False]
    assert rebuilt.arrays.ids.count == 5


def test_a_clear_forgets_the_rows_in_both_and_keeps_the_ids() -> None:
    log, watermarks = AnchorLog.empty(DictLog(), ANCHOR, TRANSACTION), Watermarks.new(TRANSACTION)
    anchor = state(log, watermarks)
    first = rows(0, 5)
    anchor.arrays.ids.accept(*anchor.arrays.identities(first), first.record_time, 1_000, 0)
    anchor.judge(first, RuleBook(TRANSACTION))
    anchor.clear()
    assert anchor.arrays.history.base == anchor.arrays.history.end
    assert [cleared for _, cleared in anchor.log.read_rows()] == [True]
    assert anchor.arrays.ids.count == 5


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What is read of anchors' logs."""
    seen: Counter[str] = Counter()
    firing, buckets = AnchorLog.read_firing, AnchorLog.read_buckets

    def read_firing(log: AnchorLog) -> object:
        seen["firing"] += 1
        return firing(log)

    def read_buckets(log: AnchorLog, path: str) -> object:
        seen["buckets"] += 1
        return buckets(log, path)

    monkeypatch.setattr(AnchorLog, "read_firing", read_firing)
    monkeypatch.setattr(AnchorLog, "read_buckets", read_buckets)
    return seen


def test_the_log_is_read_only_for_versions_and_bucket_sets_that_are_new(reads: Counter[str]) -> None:
    registry, engine = Registry(), Engine(1)
    crossing = draft("COUNT", ">", "1", by=(ANCHOR,), firing="crossing")
    bucketed = draft("SUM", ">", "1", by=(ANCHOR,), seconds=600, bucket=60)
    rules = [registry.publish(1, crossing, 0, 0), registry.publish(2, bucketed, 0, 0)]
    engine.take(batch(events=rules, ticks=[T]))
    assert reads == {"firing": 1, "buckets": 1}
    reads.clear()
    plain = registry.publish(3, draft("SUM", ">", "5", by=(ANCHOR,)), 0, 0)
    engine.take(batch(events=[plain], ticks=[T + 1], records=[payment(0, T)]))
    engine.take(batch(ticks=[T + 2], records=[payment(1, T)]))
    assert not reads
    engine.forget()
    engine.take(batch(ticks=[T + 3]))
    assert reads == {"firing": 1, "buckets": 1}
