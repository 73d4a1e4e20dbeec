"""What an anchor takes back when its arrays are built again: the same as was there, in no more room than it needs."""

from __future__ import annotations

from tests.unit.engine.state_log.test_segment_log import rows
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_engine.domain.judging.anchor import Anchor
from tripline_engine.domain.memory.arena import HeapArena
from tripline_engine.domain.rules.named_values import NamedValues
from tripline_engine.domain.rules.window_plan import WindowPlan
from tripline_engine.domain.transactions.hash_key import HashKey

KEY = HashKey(1, 2)


def anchor() -> Anchor:
    return Anchor(HeapArena(), "beneficiaryId", TRANSACTION, KEY, NamedValues(), WindowPlan.empty())


def test_ids_that_were_forgotten_stay_so() -> None:
    taken = anchor()
    taken.remember(rows(0, 100, time=1_000), id_floor=1_050, following=0)
    assert taken.ids.count == 50
    again = rows(0, 100, time=1_000)
    first = taken.ids.accept(*taken.identities(again), again.record_time, 10_000, 1_050)
    assert first.tolist() == [True] * 50 + [False] * 50


def test_room_for_ids_that_never_came_is_given_back() -> None:
    """Records of a backfill lie at the end of the log, and their record times are old: none of those is remembered."""
    taken = anchor()
    taken.remember(rows(0, 10_000, time=50_000), id_floor=40_000, following=1_000_000)
    taken.remember(rows(10_000, 10_000, time=1_000), id_floor=40_000, following=0)
    assert taken.ids.count == 10_000
    assert taken.oversized
    taken.remembered(40_000)
    assert taken.ids.count == 10_000
    assert not taken.oversized
