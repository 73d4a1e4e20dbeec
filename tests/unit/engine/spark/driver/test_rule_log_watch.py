"""Readiness of an engine that has refused a rule event."""

from __future__ import annotations

from tripline_engine.spark.driver.rule_log_watch import RuleLogWatch


def said(watch: RuleLogWatch) -> str:
    return watch.sentence or ""


def test_it_names_the_position_until_every_shard_has_it() -> None:
    watch = RuleLogWatch()
    assert said(watch) == ""
    watch.record(0, 7, is_waiting=True)
    watch.record(1, 6, is_waiting=True)
    assert "the next one to be applied is position 7:" in said(watch)
    watch.record(1, 9, is_waiting=False)
    assert "position 8:" in said(watch)
    watch.record(0, 9, is_waiting=False)
    assert said(watch) == ""
