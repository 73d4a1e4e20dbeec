"""An anchor's arrays rebuilt from its log."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tripline_contracts.event_type import EventType
from tripline_engine.domain.rules.watermarks import Watermarks
from tripline_engine.domain.rules.window_plan import WindowPlan
from tripline_engine.domain.shard.anchor_state import AnchorState
from tripline_engine.domain.transactions.columns import TransactionBatch

# To read transactions back is as much work as to build that many lists and windows over them.
_READ = 6


def rebuild_work(state: AnchorState, plan: WindowPlan) -> int:
    """The work of a rebuild, roughly: the anchor's transactions, by how often each is looked at."""
    structures = plan.populations, plan.totals, plan.chains, plan.distincts
    return state.log.rows * (_READ + sum(map(len, structures)))


def rebuild_anchor(
    state: AnchorState, plan: WindowPlan, watermarks: Watermarks, event_type: EventType
) -> None:
    """Load history and ids from the log into arrays that are empty, and build the windows of the plan over them."""
    arrays, segments, folded = state.arrays, state.log.segments, state.log.buckets.folded
    floor, sequence = state.time_floor, segments.first
    with ThreadPoolExecutor(1) as id_loader:
        loads = []
        for rows, cleared in state.log.read_rows():
            needed = len(rows) if folded is None else max(folded - sequence, 0)
            sequence += len(rows)
            # rows behind the first one that has not expired are loaded as well
            following = segments.accepted - sequence
            loads.append(id_loader.submit(arrays.load_ids, rows, watermarks.id_floor, following))
            for run, expired in _runs(state, rows, floor, needed, event_type):
                if not (cleared or expired):
                    arrays.load(run, following)
        for load in loads:
            load.result()
    arrays.retention.expire_spare_ids(watermarks.id_floor)
    arrays.history.offset = segments.accepted - arrays.history.end
    arrays.void_again(segments.voided)
    until = unfolded(state, arrays.retention.expired(floor))
    arrays.retention.clean_up(watermarks, until)
    state.restructure(plan)


def unfolded(state: AnchorState, until: int) -> int:
    """That row number, or that of the first row that some bucket set still has to read."""
    folded = state.log.buckets.folded
    return until if folded is None else min(until, folded - state.arrays.history.offset)


def _runs(
    state: AnchorState, rows: TransactionBatch, floor: int, needed: int, event_type: EventType
) -> Iterator[tuple[TransactionBatch, bool]]:
    """The rows in two runs at most, each with whether it has expired: all before the first row that has not.

    :param needed: the index of the first row that bucket sets still have to read
    """
    live = rows.time >= floor
    loaded = state.arrays.history.end
    first = 0 if loaded or live.all() else int(live.argmax()) if live.any() else len(rows)
    expired = np.arange(len(rows)) < min(first, needed)
    for run, is_expired in ((expired, True), (~expired, False)):
        if run.any():
            yield rows.filter(run, event_type), is_expired
