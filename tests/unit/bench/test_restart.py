"""The payments of the restart's benchmark, and when clean-up has brought everything back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.harness.clean_up import FIGURES, MEBIBYTE, Cleaned, Held
from bench.harness.restart_run import Restarted
from bench.harness.state_log import Logged
from bench.restart import own_seconds
from bench.workload.restart_load import (
    FIRST,
    LINGERING,
    RULES,
    STEPS,
    TRIP,
    WITNESS,
    WITNESS_PAYEE,
    Retaining,
    retaining,
)
from bench.workload.workload import PARTITIONS
from tripline_engine.spark.driver.disk_space import disk_bytes

PAYMENTS, FIRST_MS = 6_000, 1_700_000_000_000
HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def history() -> Retaining:
    return retaining(PAYMENTS, 3, FIRST_MS, seed=1)


def test_the_parts_follow_one_another(history: Retaining) -> None:
    sizes = [len(history.part(index)) for index in range(len(history.ends))]
    assert sizes == [FIRST, PAYMENTS - FIRST, TRIP, *[FIRST // STEPS] * STEPS, 3 * LINGERING]
    assert history.trip == history.load.preloaded == PAYMENTS
    assert (np.diff(history.times) >= 0).all()
    assert history.times[0] == FIRST_MS
    after_trip = PAYMENTS + TRIP
    assert history.times[after_trip] - history.times[after_trip - 1] > HOUR_MS


def test_every_payment_lies_in_kafka_where_the_workload_says(history: Retaining) -> None:
    for partition in range(PARTITIONS):
        mine = history.load.partition == partition
        assert history.load.offset[mine].tolist() == list(range(int(mine.sum())))
    # the record clock waits for both
    for index in range(len(history.ends)):
        start, end = history.ends[index - 1] if index else 0, history.ends[index]
        assert set(history.load.partition[start:end]) == set(range(PARTITIONS))


def test_the_witness_comes_through_the_history_and_trips_first(history: Retaining) -> None:
    before = int((history.load.payee[:PAYMENTS] == WITNESS_PAYEE).sum())
    assert history.load.payee[PAYMENTS] == WITNESS_PAYEE
    versions = history.versions()
    assert [version.subject for version in versions] == list(RULES)
    (witness,) = (version for version in versions if version.subject is WITNESS)
    assert witness.limit == before
    # no rule judges what was there before the restart
    assert {version.effective_from for version in versions} == {int(history.times[PAYMENTS])}
    assert history.times[PAYMENTS - 1] < history.times[PAYMENTS]


@pytest.mark.parametrize(
    ("short", "long", "building", "ours"),
    [
        (10.0, 14.0, 3.0, 4.0),
        # the short one was started while others used the machine: the difference says nothing
        (40.6, 39.7, 15.6, 15.6),
    ],
)
def test_ours_is_never_less_than_what_the_shard_has_timed(
    short: float, long: float, building: float, ours: float
) -> None:
    starts = Restarted(short, 0.5, 1, 0, 1), Restarted(long, building, 1, 0, 1)
    assert own_seconds(*starts) == pytest.approx(ours)


def held(rows: float, size: float) -> Held:
    """The same size everywhere."""
    return Held(rows, size, int(size), int(size), Logged(int(rows), int(size)), int(size))


def test_clean_up_is_done_when_everything_is_back() -> None:
    baseline, peak = held(100, 50 * MEBIBYTE), held(9_000, 5_000 * MEBIBYTE)
    steps = [(1, replace(held(90, 50 * MEBIBYTE), rows=500)), (1, held(110, 50 * MEBIBYTE))]
    done = Cleaned(baseline, peak, steps, lingering=0, lingered=0)
    assert done.needed == 2
    assert all(result.ok for result in done.rows())


def test_what_comes_in_after_everything_is_back_is_no_bar_missed() -> None:
    baseline, peak = held(100, 50 * MEBIBYTE), held(9_000, 5_000 * MEBIBYTE)
    done = Cleaned(baseline, peak, [(1, baseline), (1, peak)], lingering=0, lingered=0)
    assert done.needed == 1
    assert all(result.ok for result in done.rows())


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_one_figure_that_stays_is_a_bar_missed(figure: object) -> None:
    baseline, peak = held(100, 50 * MEBIBYTE), held(9_000, 5_000 * MEBIBYTE)
    remains = {
        "transactions held, over all anchors": replace(baseline, rows=111),
        "arrays": replace(baseline, arrays=57 * MEBIBYTE),
        "memory-mapped files": replace(baseline, files=57 * MEBIBYTE),
        "Python workers": replace(baseline, workers=200 * MEBIBYTE),
        "state log: keys and values": replace(baseline, log=Logged(100, 57 * MEBIBYTE)),
    }
    assert set(remains) == {figure.name for figure in FIGURES}
    cleaned = Cleaned(baseline, peak, [(1, remains[figure.name])], lingering=0, lingered=0)  # type: ignore[attr-defined]
    missed = [result.name for result in cleaned.rows() if not result.ok]
    assert len(missed) == 1
    assert cleaned.needed == 2


def test_files_with_holes_count_by_what_they_take(tmp_path: Path) -> None:
    with (tmp_path / "hole").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "full").write_bytes(b"x" * 8_192)
    assert 8_192 <= disk_bytes(tmp_path) < MEBIBYTE
