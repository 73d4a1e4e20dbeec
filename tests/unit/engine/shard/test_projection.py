"""Arrays count as a shard's state only if they are its head's; anything else is built again to the same alerts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.oracle.generators.profile import EVERYTHING
from tests.oracle.histories.random_history import random_history
from tests.oracle.judgement.oracle import judge
from tests.unit.engine.support.shard_harness import Engine
from tripline_engine.domain.judging.anchor_tuning import AnchorTuning
from tripline_engine.domain.memory.file_lock import file_lock
from tripline_engine.domain.shard.shard_tuning import ShardTuning

SEED = 5
Damage = Callable[[Path], None]


def header(shard: Path) -> np.ndarray:
    return np.memmap(shard / "header", np.int64, "r+")


def set_dirty(shard: Path) -> None:
    header(shard)[4] = 1


def name_another_boot(shard: Path) -> None:
    header(shard)[3] += 1


def name_another_nonce(shard: Path) -> None:
    header(shard)[2] += 1


def run_ahead(shard: Path) -> None:
    header(shard)[1] += 1


def lose_header(shard: Path) -> None:
    (shard / "header").unlink()


def lose_everything(shard: Path) -> None:
    for path in list(shard.iterdir()):
        path.unlink()


DAMAGES = [set_dirty, name_another_boot, name_another_nonce, run_ahead, lose_header, lose_everything]


def by_id(alerts: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted(map(repr, (sorted(alert.items()) for alert in alerts)))


def canonical(alerts: Sequence[Mapping[str, Any]]) -> list[str]:
    return sorted(json.dumps(alert, sort_keys=True) for alert in alerts)


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_arrays_are_built_again(damage: Damage, tmp_path: Path) -> None:
    batches = random_history(SEED, EVERYTHING)
    engine = Engine(1, tmp_path)
    for number, batch in enumerate(batches):
        if number == len(batches) // 2:
            rebuilds = engine.counters["rebuilds"]
            damage(tmp_path / "shard-0")
            engine.restart_workers()
        engine.take(batch)
        if number == len(batches) // 2:
            assert engine.counters["rebuilds"] == rebuilds + 1
    assert by_id(engine.alerts()) == by_id(judge(batches).alerts)


@pytest.mark.parametrize("seed", range(1, 7))
def test_arrays_that_several_threads_rebuild_give_the_same_alerts(seed: int, tmp_path: Path) -> None:
    tuning = ShardTuning(anchor=AnchorTuning(parallel_rows=0))
    batches = random_history(seed, EVERYTHING)
    engine = Engine(1, tmp_path, tuning=tuning)
    for number, batch in enumerate(batches):
        if number:
            lose_everything(tmp_path / "shard-0")
            engine.restart_workers()
        engine.take(batch)
    assert engine.counters["rebuilds"] > 0
    assert canonical(engine.alerts()) == canonical(judge(batches).alerts)


def test_undamaged_arrays_outlive_the_worker(tmp_path: Path) -> None:
    batches = random_history(SEED, EVERYTHING)
    engine = Engine(1, tmp_path)
    for batch in batches:
        engine.take(batch)
        engine.restart_workers()
    assert engine.counters["rebuilds"] == 0
    assert by_id(engine.alerts()) == by_id(judge(batches).alerts)


def test_a_held_shard_is_judged_on_a_private_copy(tmp_path: Path) -> None:
    batches = random_history(SEED, EVERYTHING)
    engine = Engine(1, tmp_path)
    for number, batch in enumerate(batches):
        if number % 3 == 1:
            with file_lock(tmp_path / "shard-0.lock") as held:
                assert held
                engine.take(batch)
        else:
            engine.take(batch)
    assert engine.counters["private_copies"] > 0
    assert by_id(engine.alerts()) == by_id(judge(batches).alerts)
