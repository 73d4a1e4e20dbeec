"""Rules whose alerts are counted alone: the same alerts, of which little is told, and none of them kept."""

from __future__ import annotations

import json
import logging
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from tests.oracle.histories.random_history import random_history
from tests.unit.engine.backtest.test_backtest import (
    FEW_STEPS,
    PROFILES,
    TRIED,
    definitions,
    recorded,
    said,
    tried,
    tried_on,
)
from tests.unit.engine.backtest.test_files import ROWS, json_lines
from tests.unit.engine.backtest.test_known_today import ALL, EACH
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_engine.backtest.counted_alerts import CountedAlerts
from tripline_engine.backtest.on_spark import grid_tasks
from tripline_engine.backtest.on_spark.grid_tasks import alerts_of
from tripline_engine.backtest.on_spark.work import ALERT, COUNTED
from tripline_engine.backtest.tried_rules import UnreadableRule, read_rules
from tripline_engine.certificate.span_alert import AlertReader, SpanAlert
from tripline_engine.cli import main
from tripline_engine.domain.judging.anchor_tuning import Telling
from tripline_engine.domain.shard.shard_tuning import that_tells
from tripline_engine.topic_names import ALERTS

HISTORIES = 12


def test_they_are_the_same_ones_and_nothing_else_is_told_of_them() -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    counted = CountedAlerts(frozenset({TRIED + 1}), "transactionId", "eventTime")
    seen = 0
    for seed in range(HISTORIES):
        rng = Random(seed)
        batches = random_history(seed, replace(rng.choice(PROFILES), micro_batches=FEW_STEPS))
        rule = tried(rng.choice(list(definitions(batches))))
        twin = replace(rule, rule_id=TRIED + 1, is_counted=True)
        alerts = tried_on(recorded(batches), [rule, twin], ALL)
        of_rule = [one for one in alerts if one.alert["ruleId"] == TRIED]
        of_twin = [one for one in alerts if one.alert["ruleId"] == TRIED + 1]
        assert all(set(one.alert) == {"ruleId", "group", "transaction"} for one in of_twin)
        assert said([occasion(one) for one in of_twin]) == said([occasion(one) for one in of_rule])
        assert list(counted.unpacked(counted.packed(of_twin))) == of_twin
        seen += len(of_twin)
    assert seen > HISTORIES


def occasion(alert: SpanAlert) -> dict[str, Any]:
    transaction = alert.alert["transaction"]
    return {
        "group": alert.alert["group"],
        "transactionId": transaction["transactionId"],
        "eventTime": [alert.event_time, transaction["eventTime"]],
    }


def test_an_engine_lists_no_contributors_of_counted_rules() -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    listed = 0
    for seed in range(HISTORIES):
        profile = Random(seed).choice(PROFILES)
        batches = random_history(seed, replace(profile, micro_batches=FEW_STEPS))
        whole = Engine().run(batches)
        rules = frozenset(alert["ruleId"] for alert in whole)
        bare = Engine(tuning=that_tells(Telling(counted=rules))).run(batches)
        assert said(bare) == said([without_contributors(alert) for alert in whole])
        listed += sum(len(lists(alert)) for alert in whole)
        assert not any(map(lists, bare))
    assert listed > HISTORIES


def without_contributors(value: Any) -> Any:
    """The same with empty lists of contributors, wherever they stand."""
    if isinstance(value, list):
        return [without_contributors(one) for one in value]
    if not isinstance(value, dict):
        return value
    bare = {name: without_contributors(one) for name, one in value.items()}
    if "truncated" in bare and "transactions" in bare:
        bare |= {"transactions": [], "truncated": bare["count"] > 0}
    return bare


def lists(value: Any) -> list[Any]:
    """All contributors that are listed."""
    if isinstance(value, list):
        return [listed for one in value for listed in lists(one)]
    if not isinstance(value, dict):
        return []
    here = value["transactions"] if "truncated" in value and "transactions" in value else []
    return [*here, *(listed for one in value.values() for listed in lists(one))]


def test_a_task_hands_on_some_megabytes_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_tasks, "_ALERT_BYTES", 5_000)
    monkeypatch.setattr(grid_tasks, "_COUNTED_RUN", 7)
    batches = random_history(4, replace(PROFILES[0], micro_batches=FEW_STEPS))
    (rule_id, _), *_ = Counter(alert["ruleId"] for alert in Engine().run(batches)).most_common()
    engine = Engine()
    engine.run(batches)
    reader = AlertReader(TRANSACTION, ALL, is_compared=False)
    counted = CountedAlerts(frozenset({rule_id}), "transactionId", "eventTime")
    alerts = [
        one for one in (reader.read(record.value) for record in engine.out if record.topic == ALERTS) if one
    ]
    given = list(alerts_of(engine.out, reader, counted))
    rows = [row for batch in given for row in batch.to_pylist()]
    kept = [row for row in rows if row["kind"] == ALERT]
    assert [row["alertId"] for row in kept] == [one.alert_id for one in alerts if not counted.has(one)]
    assert len(given) > 2
    assert all(sum(len(row["payload"]) for row in batch.to_pylist()[:-1]) < 5_000 for batch in given[:-1])
    runs = [row for row in rows if row["kind"] == COUNTED]
    told = [one for row in runs for one in counted.unpacked(row["payload"])]
    assert told == [counted.less(one) for one in alerts if counted.has(one)]
    assert len(runs) == -(-len(told) // 7) > 2
    assert len({(row["eventTime"], row["alertId"]) for row in runs}) == len(runs), "they can be parted"


def test_the_command_counts_them_and_writes_none(tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text(json.dumps({**EACH, "name": "kept"}))
    (tmp_path / "counted.json").write_text(json.dumps({**EACH, "name": "counted", "counted": True}))
    (tmp_path / "rows.jsonl").write_bytes(json_lines(ROWS))
    out = tmp_path / "out"
    words = ["backtest", str(tmp_path / "kept.json"), str(tmp_path / "counted.json")]
    words += ["--files", str(tmp_path / "rows.jsonl"), "--out", str(out)]
    result = CliRunner().invoke(main, words, env={"TRIPLINE_KAFKA": "127.0.0.1:1"})
    assert result.exit_code == 0, result.output
    kept, counted = json.loads((out / "result.json").read_text())["rules"]
    assert (kept["alerts"], kept["topGroups"]) == (counted["alerts"], counted["topGroups"]) != (0, [])
    assert pq.read_table(out / "alerts.parquet")["ruleName"].to_pylist() == ["kept"] * kept["alerts"]


@pytest.mark.parametrize("value", [1, "yes", None])
def test_what_is_neither_true_nor_false_is_refused(value: object, tmp_path: Path) -> None:
    file = tmp_path / "rule.json"
    file.write_text(json.dumps({**EACH, "counted": value}))
    with pytest.raises(UnreadableRule, match="counted: expected true or false"):
        read_rules([file], TRANSACTION)
