"""Seen ids against a list of them: through tables that grow, are rehashed in pieces, and expire ids."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tripline_engine.domain.history.deduplication import SeenIds, SeenIdsTuning
from tripline_engine.domain.memory.arena import Arena, HeapArena
from tripline_engine.domain.memory.mapped_arena import MappedArena

REACH = 1000
TUNING = SeenIdsTuning(at_once=64, moved_per_batch=4)
BATCHES = st.lists(
    st.tuples(
        # ids, how many different ones there are, milliseconds that the clock advances, whether another process goes on
        st.integers(0, 400),
        st.integers(1, 5000),
        st.sampled_from([0, 1, 50, 600, 5000]),
        st.booleans(),
    ),
    min_size=1,
    max_size=60,
)


class Model:
    """The same as a list."""

    def __init__(self) -> None:
        self._seen: list[tuple[int, int]] = []

    def accept(self, ids: list[int], times: list[int], floor: int) -> list[bool]:
        out = []
        for id_, time in zip(ids, times, strict=True):
            duplicate = any(
                other == id_ and seen >= floor and abs(seen - time) <= REACH for other, seen in self._seen
            )
            out.append(not duplicate)
            if not duplicate:
                self._seen.append((id_, time))
        self._seen = [pair for pair in self._seen if pair[1] >= floor]
        return out


@pytest.mark.parametrize("mapped", [False, True], ids=["memory", "mapped"])
@settings(
    max_examples=40,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(batches=BATCHES, seed=st.integers(0, 2**32))
def test_each_id_counts_once_until_it_expires(
    mapped: bool,
    batches: list[tuple[int, int, int, bool]],
    seed: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    rng = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("ids")
    arena: Arena = MappedArena(folder) if mapped else HeapArena()
    ids, model, clock = SeenIds(arena, "ids", TUNING), Model(), 0
    for count, different, step, changed in batches:
        clock += step
        keys = rng.integers(0, different, count)
        times = clock + rng.integers(0, 300, count)
        # scattered, as identities are
        low = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        if changed and mapped:
            ids = SeenIds(MappedArena(folder), "ids", TUNING)
        elif changed:
            ids = SeenIds(arena, "ids", TUNING)
        accepted = ids.accept(low, low, times, REACH, clock - 2000)
        assert accepted.tolist() == model.accept(keys.tolist(), times.tolist(), clock - 2000)


def test_a_large_table_is_rehashed_in_pieces_and_leaves_expired_ids_behind() -> None:
    ids, n = SeenIds(HeapArena(), "ids"), 2000
    sizes = []
    for batch in range(400):
        low = np.arange(batch * n, (batch + 1) * n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        times = np.full(n, batch * 10)
        # ids older than a hundred batches have expired
        assert ids.accept(low, low, times, 50, batch * 10 - 1000).all()
        assert not ids.accept(low, low, times, 50, batch * 10 - 1000).any()
        sizes.append(ids.capacity)
    assert max(sizes) <= 1 << 21
    assert ids.count < 700_000
    ids.expire(4000 - 10)
    assert ids.count == n
    assert ids.capacity <= 8 * n
