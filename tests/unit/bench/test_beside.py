"""Rules are measured beside plainer ones over the same micro-batches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench import plain
from bench.beside import BARS, EVENT_TYPE, Beside, located, main, rules
from bench.evaluation import Shard, payments, prepared
from bench.workload.rules import UNREACHABLE
from tripline_contracts.rules import rule_definition
from tripline_demo import paths
from tripline_engine.domain.shard.engine_config import EngineConfig


def test_all_of_them_reach_equally_far_back() -> None:
    bodies = [rule.body(UNREACHABLE, 0) for rule in rules(10)]
    definitions = [
        rule_definition.parse(
            {k: v for k, v in body.items() if k not in ("name", "effectiveFrom")}, EVENT_TYPE
        )
        for body in bodies
    ]
    assert {definition.window_seconds for definition in definitions} == {10}
    names = {rule.name for rule in rules(10)}
    assert all({name, *plain} <= names for name, plain, _ in BARS)


def test_a_shadow_judges_beside_its_rule(tmp_path: Path) -> None:
    config = EngineConfig("bench", EVENT_TYPE, EVENT_TYPE.anchors, 1, (1, 2), "data")
    stream = prepared(config, located(payments(1_000, 200, seed=1), seed=1), 100)
    rule = Beside("SUM", "SUM", 1)
    shard = Shard(config, tmp_path, rule)
    shard.publish(1, UNREACHABLE, 0)
    shard.try_beside(2, rule.body(-UNREACHABLE, 0))
    alerts = shard.take(stream.timed[0])
    assert (len(alerts), {alert["mode"] for alert in alerts}) == (100, {"shadow"})


def test_every_bar_has_its_rows(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("var")
    monkeypatch.setattr(paths, "var_folder", lambda: folder)
    monkeypatch.setattr("bench.beside._KEPT_LATER_MS", 1_000)
    result = CliRunner().invoke(main, ["--large", "3000", "--micro-batches", "10", "--size", "20"])
    rows = json.loads((folder / "beside.json").read_text())
    assert len(rows) == 2 * len(BARS) + len(rules(2)), result.output
    assert all(row["value"] > 0 for row in rows)


def test_five_plain_rules_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "_FILLED", 1_000)
    assert plain.measured(10, 20) > 0
