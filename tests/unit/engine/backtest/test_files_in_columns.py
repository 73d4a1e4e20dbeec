"""Parquet read by columns is what it is row by row; many come in order; cells, not cuts, move the clock."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracle.generators.profile import EVERYTHING_AND_ENTRIES, EVERYTHING_AND_MORE, THE_WHOLE_LANGUAGE
from tests.oracle.histories.seeds import seeds
from tests.oracle.judgement.oracle import judge
from tests.unit.engine.archive.support.memory_store import START
from tests.unit.engine.backtest.support.file_histories import FileHistory, file_history, mapped
from tests.unit.engine.backtest.test_backtest import FEW_STEPS, said
from tests.unit.engine.backtest.test_known_today import without_contributors
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_engine.backtest.ordered import file_history as file_history_module
from tripline_engine.backtest.ordered import recorded_file
from tripline_engine.backtest.ordered.event_cells import CELL, Grid, micro_batches
from tripline_engine.backtest.ordered.event_runs import BY_LINE, EventRuns
from tripline_engine.backtest.ordered.file_history import backtest_files
from tripline_engine.backtest.ordered.recorded_file import RecordedFile
from tripline_engine.prover.settings import Judged

MAPPING = """\
timeZone: UTC
nulls: [n/a]
fields:
  transactionId: Id
  eventTime: {column: When, form: {unit: seconds, since: "2021-01-01T00:00:00Z"}}
  payeeId: From
  beneficiaryId: To
  paymentType: {column: Kind, values: {cash: CSH, card: CRD, "7": CRD}}
  paymentAmount: Amount
  ingestionTimestamp: Came
"""
NAMES = {
    "transactionId": "Id", "eventTime": "When", "payeeId": "From", "beneficiaryId": "To", "paymentType": "Kind",
    "paymentAmount": "Amount", "ingestionTimestamp": "Came",
}  # fmt: skip
TEXTS = [*["a", "25"] * 5, "", " b ", "\u00e4", "x" * 64, "\u00e4" * 65, "x\0y", "n/a", "\u2003c", None]
MOMENTS = [
    None,
    datetime(2021, 1, 1, tzinfo=UTC),
    datetime(1960, 1, 1, tzinfo=UTC),
    datetime(9999, 1, 1, tzinfo=UTC),
]
TIMES = [*[0, 5, 1_000_000] * 4, START, -1, 253_402_300_800_000, 1 << 60, None]
LOCAL = [None if one is None else one.replace(tzinfo=None) for one in MOMENTS]
KINDS = [*["CSH", "CRD", "cash", "card"] * 5, "XXX", " CRD", "card ", "", None]
CENTS = [Decimal(n).scaleb(-2) for n in (0, 1, -1, 150, -(10**9), 10**9, 10**20)]
COLUMNS: dict[str, list[tuple[pa.DataType, Sequence[object]]]] = {
    "transactionId": [
        (pa.string(), TEXTS),
        (pa.dictionary(pa.int32(), pa.large_string()), TEXTS),
        (pa.int64(), [25, -(1 << 62), 1 << 62]),
        (pa.float64(), [1.5, 2.0]),
        (pa.decimal128(9, 1), [Decimal(1), Decimal("2.5")]),
    ],
    "eventTime": [
        (pa.int64(), TIMES),
        (pa.uint64(), [0, START, (1 << 64) - 1]),
        (pa.timestamp("us", "Europe/Berlin"), MOMENTS),
        (pa.timestamp("s", "UTC"), MOMENTS),
        (pa.timestamp("ms"), LOCAL),
        (pa.timestamp("ms", "UTC"), [1 << 62, 0]),
        (pa.string(), ["2021-05-01T00:00:00Z", "12", None]),
    ],
    "paymentType": [
        (pa.string(), KINDS),
        (pa.dictionary(pa.int32(), pa.string()), KINDS),
        (pa.int8(), [7, 8]),
    ],
    "paymentAmount": [
        (pa.decimal128(24, 2), CENTS),
        (pa.decimal256(70, 18), [*CENTS, Decimal(1).scaleb(-18), Decimal(10) ** 30]),
        (pa.decimal128(38, 18), CENTS[:-1]),
        (pa.int64(), [0, -5, 10**12, 10**18, -(10**18), None]),
        (pa.string(), ["1.50", "1e3", "1,5", None]),
        (pa.float64(), [0.5, 1.0]),
    ],
}
"""What a column of a file may be, by the field that is read from it."""
AS = {"payeeId": "transactionId", "beneficiaryId": "transactionId", "ingestionTimestamp": "eventTime"}


def drawn(rng: Random, names: dict[str, str] | None) -> pa.Table:
    rows = rng.choice([0, 1, 9, 30])
    table: dict[str, pa.Array] = {}
    for field in TRANSACTION.fields:
        # mostly the first, so that there are rows that can be read
        choice = COLUMNS[AS.get(field.name, field.name)]
        kind, values = choice[0] if rng.random() < 0.92 else rng.choice(choice)
        if values is KINDS:
            values = [*(["CSH", "CRD"] if names is None else ["cash", "card"]) * 20, *values]
        if field.required or rng.random() < 0.8:
            table[field.name if names is None else names[field.name]] = pa.array(
                rng.choices(values, k=rows), kind
            )
    if names is not None:
        table |= {name: pa.nulls(rows, pa.string()) for name in names.values() if name not in table}
    return pa.table(table)


def read(path: Path, mapping: str | None) -> tuple[list[dict[str, Any]], list[tuple[int, str]]]:
    recorded = RecordedFile(3, path, TRANSACTION, mapped(mapping))
    rows = [row for table, _ in recorded.transactions() for row in table.to_pylist()]
    assert recorded.report.rows == len(rows)
    return rows, sorted((one.line, one.reason) for one in recorded.report.unread)


@pytest.mark.parametrize("mapping", [None, MAPPING], ids=["as the fields are called", "with a mapping"])
def test_columns_are_read_as_rows_are(
    mapping: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(120):
        rng, path = Random(seed), tmp_path / "file"
        pq.write_table(
            drawn(rng, None if mapping is None else NAMES), path, row_group_size=rng.choice([4, 100])
        )
        with monkeypatch.context() as patched:
            by_columns = read(path, mapping)
            patched.setattr(recorded_file, "field_columns", lambda *_: None)
            assert by_columns == read(path, mapping), seed
        seen["read"] += len(by_columns[0])
        seen["left out"] += len(by_columns[1])
    record_property("seen", f"{dict(seen)}")
    assert min(seen["read"], seen["left out"]) > 50


def test_a_file_of_sure_columns_is_never_read_row_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = file_history(1, EVERYTHING_AND_MORE, tmp_path)

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(RecordedFile, "_raws", refuse)
    assert sum(len(read(path, None)[0]) for path in history.files.paths) == len(history.transactions)


def test_a_text_that_is_no_utf_8_costs_its_row(tmp_path: Path) -> None:
    table = pa.table({
        "transactionId": pa.array([b"a", b"\xff", b"c"]).cast(pa.binary()).view(pa.string()), "eventTime": [START] * 3,
        "paymentAmount": [1] * 3, "paymentType": ["CSH"] * 3,
    })  # fmt: skip
    pq.write_table(table, tmp_path / "file")
    rows, [(line, reason)] = read(tmp_path / "file", None)
    assert [row["transactionId"] for row in rows] == ["a", "c"]
    assert (line, reason.startswith("it cannot be read: 'utf-8' codec")) == (2, True)


def test_row_groups_by_themselves_have_the_lines_of_the_file(tmp_path: Path) -> None:
    history = file_history(2, EVERYTHING_AND_MORE, tmp_path)
    recorded = RecordedFile(0, history.files.paths[-1], TRANSACTION, None)
    sizes = recorded.group_rows()
    assert sizes is not None
    apart = [
        line for group in range(len(sizes)) for table, _ in recorded.transactions(range(group, group + 1))
        for line in table.column("line").to_pylist()
    ]  # fmt: skip
    assert apart == list(range(1, sum(sizes) + 1))


def events(rng: Random, count: int) -> pa.Table:
    return pa.table({
        "t": pa.array([rng.randrange(50) for _ in range(count)], pa.int64()),
        "arrived": pa.array([rng.randrange(3) for _ in range(count)], pa.int64()),
        "file": pa.array([rng.randrange(2) for _ in range(count)], pa.int32()),
        "line": pa.array(rng.sample(range(10_000), count), pa.int64()),
    })  # fmt: skip


@pytest.mark.parametrize("ordered", [True, False])
def test_runs_are_merged_into_one_order(tmp_path: Path, *, ordered: bool) -> None:
    for seed in range(40):
        rng, folder = Random(seed), tmp_path / f"{seed}"
        folder.mkdir()
        table = events(rng, rng.choice([0, 1, 60, 400]))
        ties = rng.choice([BY_LINE, ("arrived", *BY_LINE)])
        rows = sorted(zip(*(table.column(name).to_pylist() for name in ("t", *ties)), strict=True))
        if ordered:
            table = table.sort_by([(name, "ascending") for name in ("t", *ties)])
        runs = EventRuns(folder, "t", rng.choice([1, 7, 100, 10_000]), ties)
        for first in range(0, table.num_rows, 9):
            runs.add(table.slice(first, 9))
        pieces = list(runs.merged(rng.choice([1, 16, 1_000])))
        given = [tuple(row[name] for name in ("t", *ties)) for piece in pieces for row in piece.to_pylist()]
        assert given == rows
        assert len(runs) == len(rows)


def test_the_clock_at_a_transaction_is_when_its_cell_begins() -> None:
    times = np.sort(np.random.default_rng(1).integers(1_000, 9_000, 500))
    grid = Grid.over(int(times[0]), int(times[-1]), 500, 20)
    assert 300 < grid.step < 340, "25 cells"
    for sizes in ([500], [1] * 500, [7, 90, 3, 400]):
        ends = np.cumsum(sizes)
        tables = [pa.table({"t": times[end - size : end]}) for end, size in zip(ends, sizes, strict=True)]
        batches = list(micro_batches(tables, "t", grid, 20))
        assert [time for _, table in batches for time in table.column("t").to_pylist()] == times.tolist()
        for clock, table in batches:
            assert 0 < table.num_rows <= 20
            assert all(0 <= time - clock < grid.step for time in table.column("t").to_pylist())
            assert (clock - grid.first) % grid.step == 0


def alerts_of(history: FileHistory, shards: int, cell: int = CELL) -> list[dict[str, Any]]:
    alerts: list[dict[str, Any]] = []
    judged = Judged(TRANSACTION, "data")
    backtest_files(
        history.rules,
        history.span,
        history.files,
        judged,
        lambda one: alerts.append(one.alert),
        shards,
        cell=cell,
    )
    return alerts


@pytest.mark.slow
def test_files_give_what_the_oracle_says_of_them_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    seen: Counter[str] = Counter()
    for seed, draw in seeds(range(8)):
        profile = draw.choice([EVERYTHING_AND_MORE, EVERYTHING_AND_ENTRIES, THE_WHOLE_LANGUAGE])
        short = replace(profile, micro_batches=FEW_STEPS)
        history, cell = file_history(seed, short, tmp_path), draw.choice([40, CELL])
        with monkeypatch.context() as patched:
            run = draw.choice([4, 50, 10_000])
            patched.setattr(
                file_history_module, "EventRuns", lambda folder, name, run=run: EventRuns(folder, name, run)
            )
            alerts = alerts_of(history, draw.choice([1, 2, 3]), cell)
        assert said(alerts) == said(alerts_of(history, 1, cell)), "byte by byte in any number of shards"
        expected = judge(history.in_order()).alerts
        if history.rules[0].definition.bucket_seconds is not None:
            alerts, expected = without_contributors(alerts), without_contributors(expected)
        assert said(alerts) == said(expected), seed
        seen["histories"] += 1
        seen["with alerts"] += bool(alerts)
        ids = {one.transaction_id for one in history.transactions}
        seen["with ids that come again"] += len(ids) < len(history.transactions)
    record_property("tried", f"{dict(seen)}")
    assert seen["with alerts"] > seen["histories"] / 3
    assert 0 < seen["with ids that come again"] < seen["histories"], "remembered, and not"
