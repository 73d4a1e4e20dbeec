"""What is made of a run's figures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bench.figures import engine_metrics, results
from bench.figures.assessment import compared, growth, is_accumulated, latencies_ms, slope, told_by
from bench.independent.expected import Expected


def alert(rule: int, number: int) -> dict[str, object]:
    """What is read of one."""
    return {
        "ruleId": rule,
        "transaction": {"transactionId": f"b-{number}"},
        "value": "12.5",
        "contributors": {"count": 3, "transactions": []},
    }


def test_latency_counts_from_when_a_timed_payment_was_due() -> None:
    due_at = np.array([10.0, 20.0, 30.0])
    alerts = {"a": (10.5, alert(1, 0)), "b": (20.25, alert(1, 1)), "c": (30.125, alert(4, 2))}
    latencies = latencies_ms(alerts, due_at, timed_from=1)
    assert latencies.tolist() == [250.0, 125.0]


@pytest.mark.parametrize(
    ("rule", "count", "several"), [(1, 2, True), (1, 1, False), (4, 3, False), (5, 3, True)]
)
def test_a_maximum_and_a_window_of_one_are_nobody_elses_doing(rule: int, count: int, several: bool) -> None:
    one = alert(rule, 1) | {"contributors": {"count": count, "transactions": []}}
    assert is_accumulated(one) is several


def test_growth_is_seen_and_a_stall_is_not_growth() -> None:
    steady = [(float(second), 100.0) for second in range(60)]
    stalled = [(second, 5_000.0 if 30 <= second < 33 else lag) for second, lag in steady]
    assert slope(steady) == 0
    assert slope(stalled) == 0
    assert slope([(second, lag + 0.5 * second) for second, lag in stalled]) == pytest.approx(0.5, abs=0.05)


def test_growth_is_a_share_of_the_median_from_the_first_to_the_last() -> None:
    assert growth([(10.0 * look, 1 + look / 10) for look in range(11)]) == pytest.approx(1 / 1.5)
    assert growth([(0.0, 1.5)]) == 0
    assert growth([(0.0, 0.0), (10.0, 0.0), (20.0, 1.0)]) == 0


def test_alerts_are_compared_by_id_value_and_count() -> None:
    expected = {"same": Expected("1", 1), "other": Expected("2", 2), "missing": Expected("3", 3)}
    actual = {"same": Expected("1", 1), "other": Expected("2", 3), "surplus": Expected("4", 4)}
    rows = compared(expected, actual)
    assert [row.value for row in rows[1:]] == [1, 1, 1]
    assert not any(row.ok for row in rows[1:])
    assert all(row.ok for row in compared(expected, dict(expected))[1:])


def test_of_an_alert_value_and_number_of_payments_are_compared() -> None:
    assert told_by(alert(1, 1)) == Expected("12.5", 3)


@pytest.mark.parametrize(("value", "ok"), [(499.0, True), (500.0, True), (500.1, False)])
def test_a_bar_is_met_or_missed(value: float, ok: bool) -> None:
    row = results.at_most("latency", value, "ms", 500, reference=50)
    assert row.ok is ok
    assert row.bar == "<= 500"
    assert row.ratio == pytest.approx(value / 50)
    assert results.at_least("rate", value, "1/s", 500).ok is (value >= 500)


def test_the_file_holds_what_programs_are_promised(tmp_path: Path) -> None:
    rows = [results.at_most("latency", np.float64(3), "ms", 5), results.told("rate", 7, "1/s", 14)]
    results.write(rows, tmp_path / "var" / "bench.json")
    assert json.loads((tmp_path / "var" / "bench.json").read_text()) == [
        {
            "name": "latency",
            "value": 3,
            "unit": "ms",
            "reference": None,
            "ratio": None,
            "bar": "<= 5",
            "ok": True,
        },
        {"name": "rate", "value": 7, "unit": "1/s", "reference": 14, "ratio": 0.5, "bar": None, "ok": True},
    ]


def test_stages_are_means_over_the_micro_batches_between_two_readings() -> None:
    def metrics(batches: int, seconds: float, planning: float, rebuilds: int) -> str:
        return (
            "# TYPE tripline_engine_batch_seconds histogram\n"
            f'tripline_engine_batch_seconds_bucket{{le="+Inf"}} {batches}\n'
            f"tripline_engine_batch_seconds_count {batches}\n"
            f"tripline_engine_batch_seconds_sum {seconds}\n"
            "# TYPE tripline_engine_batch_stage_seconds counter\n"
            f'tripline_engine_batch_stage_seconds_total{{stage="queryPlanning"}} {planning}\n'
            "# TYPE tripline_engine_rebuilds counter\n"
            f"tripline_engine_rebuilds_total {rebuilds}\n"
            "# TYPE tripline_engine_private_copies counter\n"
            "tripline_engine_private_copies_total 0\n"
        )

    rows = {row.name: row for row in engine_metrics.rows(metrics(10, 5.0, 1.0, 1), metrics(30, 8.0, 1.5, 2))}
    assert rows["micro-batches"].value == 20
    assert rows["micro-batch, mean"].value == 150
    assert rows["… queryPlanning"].value == 25
    assert not rows["histories built again"].ok
