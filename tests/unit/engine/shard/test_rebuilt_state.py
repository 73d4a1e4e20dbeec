"""An anchor's arrays rebuilt: the ids that were there, in no more room than they need."""

from __future__ import annotations

from tests.unit.engine.support.segments import rows
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_engine.domain.judging.anchor import Anchor, AnchorSchema
from tripline_engine.domain.memory.arena import HeapArena
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.window_plan import WindowPlan
from tripline_engine.domain.transactions.hash_key import HashKey

KEY = HashKey(1, 2)


def anchor() -> Anchor:
    return Anchor(
        HeapArena(), AnchorSchema("beneficiaryId", TRANSACTION, KEY), NamedValues(), WindowPlan.empty()
    )


def test_ids_that_were_forgotten_stay_so() -> None:
    rebuilt = anchor()
    rebuilt.load_ids(rows(0, 100, time=1_000), id_floor=1_050, following=0)
    assert rebuilt.ids.count == 50
    again = rows(0, 100, time=1_000)
    first = rebuilt.ids.accept(*rebuilt.identities(again), again.record_time, 10_000, 1_050)
    assert first.tolist() == [True] * 50 + [False] * 50


def test_room_for_ids_that_never_came_is_given_back() -> None:
    """Records of a backfill lie at the end of the log, and their record times are old: none of those is remembered."""
    rebuilt = anchor()
    rebuilt.load_ids(rows(0, 10_000, time=50_000), id_floor=40_000, following=1_000_000)
    rebuilt.load_ids(rows(10_000, 10_000, time=1_000), id_floor=40_000, following=0)
    assert rebuilt.ids.count == 10_000
    assert rebuilt.retention.oversized
    rebuilt.retention.expire_spare_ids(40_000)
    assert rebuilt.ids.count == 10_000
    assert not rebuilt.retention.oversized
