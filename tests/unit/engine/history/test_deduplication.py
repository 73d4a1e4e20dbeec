"""Remembered ids against a list of them: through tables that grow, move piece by piece, and forget."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tripline_engine.domain.history import deduplication
from tripline_engine.domain.history.deduplication import SeenIds
from tripline_engine.domain.memory.arena import Arena, HeapArena
from tripline_engine.domain.memory.mapped_arena import MappedArena

REACH = 1000
BATCHES = st.lists(
    st.tuples(
        # how many, of how many different ones, how far the clock goes on, and whether another process goes on
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
        self._known: list[tuple[int, int]] = []

    def accept(self, ids: list[int], times: list[int], floor: int) -> list[bool]:
        out = []
        for each, time in zip(ids, times, strict=True):
            known = any(
                other == each and at >= floor and abs(at - time) <= REACH for other, at in self._known
            )
            out.append(not known)
            if not known:
                self._known.append((each, time))
        self._known = [pair for pair in self._known if pair[1] >= floor]
        return out


@pytest.mark.parametrize("mapped", [False, True], ids=["memory", "mapped"])
@settings(
    max_examples=40,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(batches=BATCHES, seed=st.integers(0, 2**32))
def test_each_id_counts_once_while_it_is_remembered(
    mapped: bool,
    batches: list[tuple[int, int, int, bool]],
    seed: int,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deduplication, "_AT_ONCE", 64)
    monkeypatch.setattr(deduplication, "_MOVED_LEAST", 4)
    rng = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("ids")
    arena: Arena = MappedArena(folder) if mapped else HeapArena()
    ids, model, clock = SeenIds(arena, "ids"), Model(), 0
    for count, different, step, changed in batches:
        clock += step
        keys = rng.integers(0, different, count)
        times = clock + rng.integers(0, 300, count)
        # scattered, as identities are
        low = keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        if changed and mapped:
            ids = SeenIds(MappedArena(folder), "ids")
        elif changed:
            ids = SeenIds(arena, "ids")
        found = ids.accept(low, low, times, REACH, clock - 2000)
        assert found.tolist() == model.accept(keys.tolist(), times.tolist(), clock - 2000)


def test_a_large_table_moves_piece_by_piece_and_what_is_old_stays_behind() -> None:
    ids, n = SeenIds(HeapArena(), "ids"), 2000
    sizes = []
    for batch in range(400):
        low = np.arange(batch * n, (batch + 1) * n, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        times = np.full(n, batch * 10)
        # what is older than a hundred batches is forgotten
        assert ids.accept(low, low, times, 50, batch * 10 - 1000).all()
        assert not ids.accept(low, low, times, 50, batch * 10 - 1000).any()
        sizes.append(ids.capacity)
    assert max(sizes) <= 1 << 21
    assert ids.count < 700_000
    ids.expire(4000 - 10)
    assert ids.count == n
    assert ids.capacity <= 8 * n
