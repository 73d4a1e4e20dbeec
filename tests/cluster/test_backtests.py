"""`tripline-engine backtest --spark spark://…` on a cluster of two workers: what one process says, of each history."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.cluster.standalone import Cluster, cluster
from tests.e2e.support.kafka_recording import kafka_recording
from tests.oracle.generators.profile import EVERYTHING_AND_MORE
from tests.unit.engine.backtest.support.file_histories import file_history
from tests.unit.engine.backtest.test_backtest import COUNT
from tripline_demo.embedded.java import Java

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

ENGINE = str(Path(sys.executable).with_name("tripline-engine"))
SPAN = ["--from", "1970-01-01T00:00:00Z", "--to", "2100-01-01T00:00:00Z"]


@pytest.mark.timeout(600)
def test_the_command(
    java: Java, kafka: str, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    rule = tmp_path / "rule.yaml"
    rule.write_text(json.dumps({**COUNT, "limit": 2, "windowSeconds": 300, "name": "two"}))
    paths = file_history(3, EVERYTHING_AND_MORE, tmp_path).files.paths
    files = [word for path in paths for word in ("--files", str(path))]
    variables = kafka_recording(kafka, "cluster-backtest-", 3, tmp_path).variables
    histories = {"files": files, "was": SPAN, "today": [*SPAN, "--knowledge", "today"]}
    told = {}
    with cluster(java, tmp_path, workers=2) as spark:
        for name, words in histories.items():
            told[name] = tried(spark, java, rule, tmp_path / f"{name}-spark", words, variables)
            assert told[name] == tried(None, java, rule, tmp_path / name, words, variables)
        refused = command(None, java, [str(rule), *SPAN, "--spark", spark.address], variables)
    assert refused.returncode == 1
    assert "spark.authenticate.secret: a cluster needs a shared secret" in refused.stderr
    record_property("told", f"alerts: { {name: len(alerts) for name, (_, alerts) in told.items()} }")
    assert all(alerts for _, alerts in told.values())


def tried(
    spark: Cluster | None, java: Java, rule: Path, out: Path, words: list[str], variables: dict[str, str]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The result without what is of the run, and the alerts by time and id."""
    where = [] if spark is None else ["--spark", spark.address]
    done = command(spark, java, [str(rule), "--out", str(out), *words, *where], variables)
    assert done.returncode == 0, done.stderr
    result = json.loads((out / "result.json").read_text("utf-8"))
    kept = {member: value for member, value in result.items() if member not in ("seconds", "microBatches")}
    alerts = pq.read_table(out / "alerts.parquet").to_pylist()
    return kept, sorted(alerts, key=lambda one: (one["eventTime"], one["alertId"]))


def command(
    spark: Cluster | None, java: Java, words: list[str], variables: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """`tripline-engine backtest`, with the cluster's secret where one is given."""
    path = f"{java.home / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "JAVA_HOME": str(java.home), "PATH": path, **variables}
    if spark is not None:
        environment |= {**spark.environment, "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(
        [ENGINE, "backtest", *words], env=environment, capture_output=True, text=True, check=False
    )
