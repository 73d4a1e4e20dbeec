"""From a shard's output to what Prometheus reads."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.http_endpoint import serving
from tripline_engine.spark.driver.anchor_watch import AnchorWatch
from tripline_engine.spark.driver.backlog import Backlog
from tripline_engine.spark.driver.history_limit import HistoryLimit
from tripline_engine.spark.driver.listener import ProgressListener
from tripline_engine.spark.driver.metrics import Metrics, shard_counters
from tripline_engine.spark.driver.rule_log_watch import RuleLogWatch
from tripline_engine.spark.rows.output_counters import count_records

WAITING = {"rule_position": 4, "rule_waiting": 1}


def alert(latency_ms: int) -> OutRecord:
    times = {"ingestedAt": 1000, "detectedAt": 1000 + latency_ms, "value": "x"}
    return OutRecord("alerts.v1", b"k", json.dumps(times).encode(), ())


def reject(reason: str) -> OutRecord:
    return OutRecord("rejected-transactions.v1", None, b"", (("reason", reason.encode()),))


def test_output_is_counted_by_what_it_is() -> None:
    records = [
        alert(80),
        alert(75),
        alert(999_999),
        alert(-5),
        reject("too_late"),
        reject("oversized"),
        reject("too_late"),
        OutRecord("rule-traces.v1", b"7", b"{}", ()),
        # of no latency: nobody waits for it
        OutRecord("shadow-alerts.v1", b"7", b"{}", ()),
    ]
    assert count_records(records) == {
        "alerts": 4,
        "latency_ms:100": 1,
        "latency_ms:75": 1,
        "latency_ms:inf": 1,
        "latency_ms:25": 1,
        "latency_ms_sum": 80 + 75 + 999_999,
        "rejects:too_late": 2,
        "rejects:oversized": 1,
        "trace_records": 1,
        "shadow_alerts": 1,
    }


def samples(registry: CollectorRegistry) -> dict[tuple[str, tuple[str, ...]], float]:
    families = text_string_to_metric_families(generate_latest(registry).decode())
    return {(s.name, tuple(s.labels.values())): s.value for family in families for s in family.samples}


def test_micro_batches_add_up() -> None:
    metrics = Metrics()
    observed = {
        "shard0": json.dumps(
            {
                **count_records([alert(80), reject("too_late")]),
                "history_rows": 7,
                "rule_position": 4,
                "rule_waiting": 1,
                "shadows": 2,
                "shadow_alerts": 3,
            }
        ),
        "shard1": None,
    }
    metrics.batch_committed(0.12, {"events": 1, "transactions": 5}, shard_counters(observed))
    observed = {
        "shard0": json.dumps({"history_rows": 5, "rebuilds": 1, "rebuild_ms": 2_500}),
        "shard1": json.dumps({"history_rows": 9}),
    }
    metrics.batch_committed(0.09, {"events": 0, "transactions": 2}, shard_counters(observed))
    metrics.record_tick({0: 3, 1: 0}, 1_500)
    told = samples(metrics.registry)
    assert told["tripline_engine_alerts_total", ()] == 1
    assert told["tripline_engine_shadow_alerts_total", ()] == 3
    assert told["tripline_engine_shadows", ("0",)] == 2
    assert told["tripline_engine_rejects_total", ("too_late",)] == 1
    assert told["tripline_engine_rebuilds_total", ()] == 1
    assert told["tripline_engine_rebuild_seconds_total", ()] == 2.5
    assert told["tripline_engine_rows_total", ("transactions",)] == 7
    assert told["tripline_engine_history_rows", ("0",)] == 5
    assert told["tripline_engine_history_rows", ("1",)] == 9
    assert told["tripline_engine_lag_records", ("0",)] == 3
    assert told["tripline_engine_record_clock_seconds", ()] == 1.5
    assert told["tripline_engine_batch_seconds_count", ()] == 2
    assert told["tripline_engine_detection_latency_seconds_bucket", ("0.075",)] == 0
    assert told["tripline_engine_detection_latency_seconds_bucket", ("0.1",)] == 1
    assert told["tripline_engine_detection_latency_seconds_bucket", ("+Inf",)] == 1
    assert told["tripline_engine_detection_latency_seconds_sum", ()] == 0.08


def test_the_probes_say_what_is_wrong() -> None:
    problems: list[str | None] = ["not yet"]
    with serving("127.0.0.1", 0, Metrics().registry, lambda: None, lambda: problems[-1]) as port:
        assert fetch(port, "/livez") == (200, "ok\n")
        assert fetch(port, "/readyz") == (503, "not yet\n")
        problems.append(None)
        assert fetch(port, "/readyz") == (200, "ok\n")
        assert fetch(port, "/nothing")[0] == 404
        status, text = fetch(port, "/metrics")
        assert status == 200
        assert "tripline_engine_alerts_total" in text


def fetch(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_a_micro_batch_is_taken_from_spark_s_own_json(tmp_path: Path) -> None:
    metrics, limit, watch = Metrics(), HistoryLimit(7), RuleLogWatch()
    ready, committed = threading.Event(), threading.Event()
    counters = json.dumps(
        {**count_records([alert(80)]), "history_rows": 7, "rule_position": 4, "rule_waiting": 1}
    )
    need = AnchorWatch(tmp_path, "rules.v1", ("payeeId", "global"))
    ProgressListener(metrics, ready, committed, limit, Backlog(100), watch, need).batch_done(
        {
            "sources": [{"numInputRows": 1}, {"numInputRows": 5}],
            "durationMs": {"triggerExecution": 120, "addBatch": 100},
            "observedMetrics": {"shards": {"shard0": counters, "shard1": None}},
        }
    )
    told = samples(metrics.registry)
    assert ready.is_set()
    assert committed.is_set()
    assert limit.full
    assert "position 5:" in (watch.sentence or "")
    assert told["tripline_engine_alerts_total", ()] == 1
    assert told["tripline_engine_history_rows", ("0",)] == 7
    assert told["tripline_engine_batch_stage_seconds_total", ("addBatch",)] == pytest.approx(0.1)


def test_a_micro_batch_before_any_shard_has_spoken(tmp_path: Path) -> None:
    ready, committed = threading.Event(), threading.Event()
    need = AnchorWatch(tmp_path, "rules.v1", ("payeeId", "global"))
    listener = ProgressListener(
        Metrics(), ready, committed, HistoryLimit(7), Backlog(100), RuleLogWatch(), need
    )
    listener.batch_done({"sources": [], "durationMs": {"triggerExecution": 5}})
    assert ready.is_set()
