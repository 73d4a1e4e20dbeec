"""`python -m bench.backtest_speed`: a backtest over a Parquet file, as a job of Spark on so many cores.

One rule, ten rules, and one rule with a hundred limits, one after the other, each by the engine's own command; beside
them what Spark's own operators take of the same file: read and counted by shard, and the one rule as a window of Spark
SQL. Seconds are those of the job, without the session's start. The one rule's alerts of every hundredth payee are
compared with a plain count. The other nine of the ten rules have limits that nothing reaches.
Writes var/backtest_speed.json; exit code 1 if a bar is missed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import click
import numpy as np
import pyarrow.parquet as pq
from rich.console import Console

from bench.figures import results
from bench.figures.results import Result
from bench.harness.spark_read import WINDOW_MS
from bench.workload.payment_file import Watched, write_payments
from bench.workload.rules import UNREACHABLE, Subject
from tripline_contracts import decimals
from tripline_demo import paths
from tripline_demo.embedded.java import find_java

ONE: Final = Subject(1, "SUM by payee, 30 minutes", "SUM", ("payeeId",), WINDOW_MS // 1_000)
TEN: Final = (
    ONE,
    Subject(2, "COUNT by payee, 10 minutes", "COUNT", ("payeeId",), 600),
    Subject(3, "AVG by beneficiary, 5 minutes", "AVG", ("beneficiaryId",), 300),
    Subject(4, "MAX by payee, 60 minutes", "MAX", ("payeeId",), 3_600),
    Subject(5, "SUM by payee and beneficiary, 20 minutes", "SUM", ("beneficiaryId", "payeeId"), 1_200),
    Subject(6, "COUNT by beneficiary, 30 minutes", "COUNT", ("beneficiaryId",), 1_800),
    Subject(7, "SUM by beneficiary, 10 minutes", "SUM", ("beneficiaryId",), 600),
    Subject(8, "AVG by payee, 60 minutes", "AVG", ("payeeId",), 3_600),
    Subject(9, "MIN by payee, 10 minutes", "MIN", ("payeeId",), 600),
    Subject(10, "COUNT by payee and payment type, 30 minutes", "COUNT", ("payeeId", "paymentType"), 1_800),
)
SECONDS, PAYMENTS = 600.0, 50_000_000
OF_THE_LIMIT, OF_ONE_TEN, OF_ONE_SWEEP = 0.5, 2.0, 1.3
_LIMITS: Final = 100
_SHARE: Final = 1e-4


@dataclass(frozen=True, slots=True)
class Trials:
    """Where it runs.

    :ivar spark: the words that say so to the engine's command; none for one process
    """

    folder: Path
    file: Path
    spark: Sequence[str]

    def tried(self, name: str, rules: Sequence[dict[str, object]]) -> dict[str, Any]:
        """The result of a backtest with these rules; its alerts are in the folder of that name."""
        rule = self.folder / f"{name}.yaml"
        rule.write_text("\n---\n".join(json.dumps(one) for one in rules), encoding="utf-8")
        out = self.folder / name
        words = ["backtest", str(rule), "--files", str(self.file), "--out", str(out), *self.spark]
        command = Path(sys.executable).with_name("tripline-engine")
        subprocess.run([command, *words], check=True, env=_environment(), stdout=subprocess.DEVNULL)
        result: dict[str, Any] = json.loads((out / "result.json").read_text("utf-8"))
        return result


@click.command()
@click.option("--payments", type=click.IntRange(10_000), default=PAYMENTS, show_default=True)
@click.option("--payees", type=click.IntRange(1_000), default=100_000, show_default=True)
@click.option("--cores", type=click.IntRange(1), default=2, show_default=True)
@click.option("--process", is_flag=True, help="In one process, without Spark.")
@click.option(
    "--window/--no-window", default=True, help="The rule as a window of Spark SQL too: minutes of it."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
def main(*, payments: int, payees: int, cores: int, process: bool, window: bool, seed: int) -> None:
    """Measures how fast a history of files is tried."""
    console = Console(width=150 if not sys.stdout.isatty() else None)
    with tempfile.TemporaryDirectory(prefix="tripline-backtest-speed-") as name:
        folder = Path(name)
        trials = Trials(
            folder, folder / "payments.parquet", [] if process else ["--spark", f"local[{cores}]"]
        )
        watched = write_payments(trials.file, payments, payees, seed)
        limit = watched.limit(WINDOW_MS, _SHARE)
        console.print(f"[dim]{payments:,} payments, {trials.file.stat().st_size >> 20:,} MiB; Spark's own[/]")
        by_spark = _spark_own(trials.file, cores, limit, with_window=window)
        rows = _measured(trials, watched, payments, limit, by_spark, console)
    results.show(rows, console)
    results.write(rows, paths.var_folder() / "backtest_speed.json")
    sys.exit(0 if all(result.ok for result in rows) else 1)


def _measured(
    trials: Trials,
    watched: Watched,
    payments: int,
    limit: Decimal,
    by_spark: Mapping[str, float],
    console: Console,
) -> list[Result]:
    seconds: dict[str, float] = {}
    alerts: dict[str, int] = {}
    for name, rules in {"one": [_body(ONE, limit)], "ten": _ten(limit), "sweep": _sweep(watched)}.items():
        console.print(f"[dim]{name}[/]")
        tried = trials.tried(name, rules)
        assert tried["transactions"] == payments
        seconds[name] = tried["seconds"]
        alerts[name] = sum(rule["alerts"] for rule in tried["rules"])
    rate, most = payments / seconds["one"], payments / by_spark["count"]
    windowed = (
        [
            results.told(
                "Spark's own operators: the rule as a window",
                payments / by_spark["window"],
                "payments/s",
                most,
            )
        ]
        if "window" in by_spark
        else []
    )
    # of a shorter history the share of the time
    bar = SECONDS * payments / PAYMENTS
    return [
        results.at_most(f"one rule, {payments:,} payments", seconds["one"], "s", bar),
        results.told("Spark's own operators: read and counted", most, "payments/s"),
        results.at_least("one rule", rate, "payments/s", OF_THE_LIMIT * most, reference=most),
        *windowed,
        _beside("ten rules; reference: one", seconds["ten"], OF_ONE_TEN, seconds["one"]),
        _beside(f"{_LIMITS} limits; reference: one", seconds["sweep"], OF_ONE_SWEEP, seconds["one"]),
        results.told(f"alerts of {_LIMITS} limits; reference: of one", alerts["sweep"], "", alerts["one"]),
        results.at_most(
            f"of the {watched.number.size:,} payments that were checked, wrong",
            wrong(trials.folder / "one" / "alerts.parquet", watched, limit), "", 0,
        ),
    ]  # fmt: skip


def _beside(name: str, seconds: float, most: float, one: float) -> Result:
    return results.at_most(name, seconds, "s", most * one, reference=one)


def _body(subject: Subject, limit: Decimal) -> dict[str, object]:
    return {"ruleId": subject.rule_id, **subject.body(limit, 0)}


def _ten(limit: Decimal) -> list[dict[str, object]]:
    return [_body(subject, limit if subject is ONE else UNREACHABLE) for subject in TEN]


def _sweep(watched: Watched) -> list[dict[str, object]]:
    """The one rule's limit, and others above it, whose alerts are counted, as a curve needs them."""
    limit = watched.limit(WINDOW_MS, _SHARE)
    return [
        {
            **ONE.body(limit + 100 * number, 0),
            "ruleId": 1 + number,
            "name": f"limit {number}",
            "counted": number > 0,
        }
        for number in range(_LIMITS)
    ]


def wrong(file: Path, watched: Watched, limit: Decimal) -> int:
    """Alerts of these payees that are missing, too many, or tell another sum."""
    table = pq.read_table(file, columns=["transactionId", "group", "value"]).to_pylist()
    payees = {str(payee) for payee in np.unique(watched.payee)}
    told = {
        (one["transactionId"], one["value"]) for one in table if json.loads(one["group"])["payeeId"] in payees
    }
    sums = watched.sums(WINDOW_MS)
    over = np.flatnonzero(sums > int(limit * 100))
    expected = {(f"b-{watched.number[i]}", decimals.plain(Decimal(int(sums[i])).scaleb(-2))) for i in over}
    assert expected, "a limit that nothing is over checks nothing"
    return len(told ^ expected)


def _spark_own(file: Path, cores: int, limit: Decimal, *, with_window: bool) -> dict[str, float]:
    words = [sys.executable, "-m", "bench.harness.spark_read", str(file), str(cores), str(limit)]
    words += [] if with_window else ["no-window"]
    done = subprocess.run(words, check=True, env=_environment(), stdout=subprocess.PIPE, text=True)
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def _environment() -> dict[str, str]:
    java = find_java(os.environ, paths.var_folder() / "java")
    path = f"{java.home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "JAVA_HOME": str(java.home), "PATH": path, "TRIPLINE_KAFKA": "127.0.0.1:1"}


if __name__ == "__main__":
    main()
