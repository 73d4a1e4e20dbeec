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

from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft
from tests.oracle.histories.random_history import random_history
from tests.unit.engine.archive.support.memory_store import START
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
from tests.unit.engine.backtest.test_files import PAYMENTS, ROWS, json_lines
from tests.unit.engine.backtest.test_known_today import ALL, EACH
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_engine.backtest.counted_alerts import Given, counted_alerts, packed, unpacked
from tripline_engine.backtest.on_spark import grid_tasks
from tripline_engine.backtest.on_spark.grid_tasks import alerts_of
from tripline_engine.backtest.on_spark.work import ALERT, COUNTED
from tripline_engine.backtest.tried_rules import UnreadableRule, read_rules
from tripline_engine.certificate.span import Span
from tripline_engine.certificate.span_alert import SpanAlert
from tripline_engine.cli import main
from tripline_engine.domain.firing.occasion import Occasion
from tripline_engine.domain.judging.anchor_tuning import Telling
from tripline_engine.domain.shard.shard_tuning import that_tells

HISTORIES = 12
BOTH = ("beneficiaryId", "payeeId")


def test_they_are_the_same_ones_and_nothing_else_is_told_of_them() -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
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
        seen += len(of_twin)
    assert seen > HISTORIES


def occasion(alert: SpanAlert) -> dict[str, Any]:
    transaction = alert.alert["transaction"]
    return {
        "group": alert.alert["group"],
        "transactionId": transaction["transactionId"],
        "eventTime": [alert.event_time, transaction["eventTime"]],
    }


def test_an_engine_tells_occasions_of_counted_rules_or_alerts_that_list_no_contributors() -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    listed, told = 0, 0
    for seed in range(HISTORIES):
        profile = Random(seed).choice(PROFILES)
        batches = random_history(seed, replace(profile, micro_batches=FEW_STEPS))
        whole = Engine().run(batches)
        rules = frozenset(alert["ruleId"] for alert in whole)
        engine = Engine(tuning=that_tells(Telling(counted=rules)))
        bare = engine.run(batches)
        ids = {alert["alertId"] for alert in bare}
        assert said(bare) == said([without_contributors(alert) for alert in whole if alert["alertId"] in ids])
        assert not any(map(lists, bare))
        given = Given.in_span(ALL, Telling(counted=rules), TRANSACTION)
        occasions = [one for one in map(given.read, engine.out) if isinstance(one, Occasion)]
        assert unpacked(packed(occasions)) == occasions
        alerts = [alert for one in occasions for alert in counted_alerts(one, TRANSACTION)]
        assert said([of_rule(alert.alert) for alert in alerts]) == said([of_rule(alert) for alert in whole])
        listed += sum(len(lists(alert)) for alert in whole)
        told += len(alerts) - len(bare)
    assert min(listed, told) > HISTORIES


def of_rule(alert: dict[str, Any]) -> dict[str, Any]:
    """What counted alerts tell, too."""
    transaction = {name: alert["transaction"][name] for name in ("transactionId", "eventTime")}
    return {"ruleId": alert["ruleId"], "group": alert["group"], "transaction": transaction}


def test_an_occasion_is_told_once_for_all_rules_with_its_group() -> None:
    registry = Registry()
    drafts = [draft("COUNT", ">=", "1", by=fields) for fields in (("payeeId",), ("payeeId",), BOTH)]
    events = [registry.publish(rule_id, one, 0, START) for rule_id, one in enumerate(drafts, 1)]
    rules = frozenset(range(1, 4))
    engine = Engine(tuning=that_tells(Telling(counted=rules)))
    assert engine.run([batch(events=events, ticks=[START]), batch(records=PAYMENTS[:1])]) == []
    given = Given.in_span(ALL, Telling(counted=rules), TRANSACTION)
    occasions = [one for one in map(given.read, engine.out) if isinstance(one, Occasion)]
    assert sorted(one.rule_ids for one in occasions) == [(1, 2), (3,)]
    assert {one.transaction_id for one in occasions} == {ROWS[0]["transactionId"]}
    elsewhere = Given.in_span(Span(0, 1), Telling(counted=rules), TRANSACTION)
    assert not any(map(elsewhere.read, engine.out))


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
    engine = Engine(tuning=that_tells(Telling(counted=frozenset({rule_id}))))
    engine.run(batches)
    given = Given.in_span(ALL, Telling(counted=frozenset({rule_id})), TRANSACTION)
    read = [one for one in map(given.read, engine.out) if one is not None]
    parts = list(alerts_of(engine.out, given))
    rows = [row for part in parts for row in part.to_pylist()]
    kept = [row for row in rows if row["kind"] == ALERT]
    assert [row["alertId"] for row in kept] == [one.alert_id for one in read if isinstance(one, SpanAlert)]
    assert len(parts) > 2
    assert all(sum(len(row["payload"]) for row in part.to_pylist()[:-1]) < 5_000 for part in parts[:-1])
    runs = [row for row in rows if row["kind"] == COUNTED]
    told = [one for row in runs for one in unpacked(row["payload"])]
    assert told == [one for one in read if isinstance(one, Occasion)]
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
