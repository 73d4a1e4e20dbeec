"""What a backtest over files is measured and checked against."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.backtest_speed import TEN, wrong
from bench.harness.spark_read import WINDOW_MS
from bench.workload.payment_file import START, times, write_payments
from tests.unit.engine.support.shard_harness import TRANSACTION
from tripline_contracts import decimals
from tripline_contracts.rules.rule_definition import parse
from tripline_engine.backtest.ordered.recorded_file import RecordedFile


def test_the_file_is_read_and_its_sums_are_those_of_a_plain_look(tmp_path: Path) -> None:
    file = tmp_path / "payments.parquet"
    watched = write_payments(file, 3_000, 200, seed=1)
    recorded = RecordedFile(0, file, TRANSACTION, None)
    rows = [row for table, _ in recorded.transactions() for row in table.to_pylist()]
    assert (len(rows), recorded.report.bad) == (3_000, 0)
    assert [row["eventTime"] for row in rows] == times(np.arange(3_000)).tolist()
    mine = [row for row in rows if int(row["payeeId"]) % 100 == 0]
    plain = [
        sum(
            other["paymentAmount"] for other in mine
            if other["payeeId"] == row["payeeId"] and row["eventTime"] - 100 <= other["eventTime"]
            and int(other["transactionId"][2:]) <= int(row["transactionId"][2:])
        )
        for row in mine
    ]  # fmt: skip
    assert (watched.sums(100) / 100).tolist() == [float(one) for one in plain]
    assert rows[0]["eventTime"] == START


def test_an_alert_too_few_or_with_another_value_is_wrong(tmp_path: Path) -> None:
    watched = write_payments(tmp_path / "payments.parquet", 3_000, 200, seed=1)
    limit, sums = watched.limit(WINDOW_MS, 0.3), watched.sums(WINDOW_MS)
    alerts = [
        {
            "transactionId": f"b-{number}",
            "group": json.dumps({"payeeId": f"{payee}"}),
            "value": decimals.plain(decimals.parse(str(total / 100))),
        }
        for number, payee, total in zip(watched.number, watched.payee, sums, strict=True)
        if total > limit * 100
    ]
    of_others = [{**alerts[0], "group": '{"payeeId": "7"}'}]
    for more, less, expected in (
        ([], 0, 0),
        (of_others, 0, 0),
        ([{**alerts[0], "value": "1"}], 0, 1),
        ([], 1, 1),
    ):
        pq.write_table(pa.Table.from_pylist([*more, *alerts[less:]]), tmp_path / "alerts")
        assert wrong(tmp_path / "alerts", watched, limit) == expected


def test_the_rules_are_rules() -> None:
    names = {"ruleId", "name", "effectiveFrom"}
    for subject in TEN:
        body = subject.body(decimals.parse("5"), 0)
        parse({name: value for name, value in body.items() if name not in names}, TRANSACTION)
