"""What shards need not remember of runs: ids that are all different."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.engine.backtest.test_known_today import EACH
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_contracts.rules.rule_definition import parse
from tripline_engine.backtest.ordered.event_runs import EventRuns
from tripline_engine.backtest.ordered.file_history import Files, backtest_files
from tripline_engine.backtest.ordered.run_tuning import for_runs, ids_are_distinct
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.certificate.span_alert import SpanAlert
from tripline_engine.domain.shard.shard_tuning import DEFAULT_TUNING
from tripline_engine.prover.settings import Judged


def transactions(ids: list[str], first: int = 0) -> pa.Table:
    lines = range(first, first + len(ids))
    return pa.table({
        "transactionId": pa.array(ids, pa.string()),
        "eventTime": pa.array([(7 * line) % 50 for line in lines], pa.int64()),
        "file": pa.array([0] * len(ids), pa.int32()),
        "line": pa.array(lines, pa.int64()),
    })  # fmt: skip


def runs_of(folder: Path, ids: list[str], run: int) -> EventRuns:
    runs = EventRuns(folder, "eventTime", run)
    for first in range(0, len(ids), 9):
        runs.add(transactions(ids[first : first + 9], first))
    return runs


@pytest.mark.parametrize("run", [1, 20, 10_000])
@pytest.mark.parametrize("count", [0, 1, 300])
def test_it_is_seen_whether_an_id_comes_twice(tmp_path: Path, count: int, run: int) -> None:
    ids = [f"t{number}" for number in range(count)]
    distinct = runs_of(tmp_path, ids, run)
    assert ids_are_distinct(distinct, TRANSACTION)
    given = [name for table in distinct.merged() for name in table.column("transactionId").to_pylist()]
    assert sorted(given) == sorted(ids), "to look takes nothing away"


@pytest.mark.parametrize("run", [1, 20, 10_000])
def test_one_that_comes_twice_is_found_wherever_it_is(tmp_path: Path, run: int) -> None:
    for seed in range(20):
        rng, folder = Random(seed), tmp_path / f"{seed}"
        folder.mkdir()
        ids = [f"t{number}" for number in range(200)]
        twice, copy = rng.sample(range(200), 2)
        ids[copy] = ids[twice]
        assert not ids_are_distinct(runs_of(folder, ids, run), TRANSACTION), seed


def test_shards_remember_ids_only_where_one_may_come_again_and_never_write_rows(tmp_path: Path) -> None:
    for ids, remembered in ((["a", "b"], False), (["a", "b", "a"], True)):
        folder = tmp_path / "".join(ids)
        folder.mkdir()
        tuning = for_runs(DEFAULT_TUNING, runs_of(folder, ids, 2), TRANSACTION)
        assert tuning.anchor.ids_are_distinct is not remembered
        assert not tuning.segments.is_written


def test_arrays_that_were_once_far_larger_do_no_harm(tmp_path: Path) -> None:
    """A live engine makes them anew from its log, which a backtest does not write."""
    crowd, hours = 18_000, 60
    times = [*range(crowd), *(3_600_000 * (1 + number) for number in range(hours))]
    rows = pa.table({
        "transactionId": pa.array([f"t{number}" for number in range(len(times))], pa.string()),
        "eventTime": pa.array(times, pa.int64()),
        "payeeId": pa.array([f"p{number % 7_000}" for number in range(len(times))], pa.string()),
        "beneficiaryId": pa.array(["b"] * len(times), pa.string()),
        "paymentAmount": pa.array([Decimal(2)] * len(times), pa.decimal128(24, 6)),
        "paymentType": pa.array(["CRD"] * len(times), pa.string()),
    })  # fmt: skip
    path = tmp_path / "rows.parquet"
    pq.write_table(rows, path)
    definition = parse({**EACH, "windowSeconds": 600}, TRANSACTION)
    alerts: list[SpanAlert] = []
    backtest_files(
        [TriedRule(1, "each", definition)], Span(0, 1 << 50), Files([path]), Judged(TRANSACTION, "data"),
        alerts.append, cell=200,
    )  # fmt: skip
    assert len(alerts) == len(times)
    assert [one.alert["value"] for one in alerts[-hours:]] == ["1"] * hours
