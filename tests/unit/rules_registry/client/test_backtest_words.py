"""The table of a backtest."""

from __future__ import annotations

from click.testing import CliRunner

from rules_registry.cli import main
from rules_registry.client.backtest_words import result_lines
from tests.browser.support.made_up_backtest import made_up_backtest


def test_a_row_for_each_rule_and_the_groups_with_the_most_alerts() -> None:
    head, row, first, *_, last = result_lines(made_up_backtest())
    assert head.split() == [
        "rule", "alerts", "groups", "a", "day", "both", "only", "tried", "only", "live", "precision", "recall",
    ]  # fmt: skip
    assert row.startswith("Many payments by one payer ")
    assert row.split()[5:] == ["978", "14", "326.0", "610", "180", "42", "0.8333", "0.7500"]
    assert len(row) <= len(head)
    assert first == "Many payments by one payer: 200 alerts of payeeId payer-1"
    assert last == "1250000 transactions in 86400 micro-batches, 88 s; 2 alerts can be read"
    *_, last = result_lines(made_up_backtest(knowledge="today"))
    assert last.endswith("2 alerts can be read; as we know today")


def test_what_is_asked_for_has_to_be_one_thing_and_times_have_an_offset() -> None:
    span = ["--from", "2026-05-01T00:00:00Z", "--to", "2026-05-02T00:00:00Z", "--key-file", "/dev/null"]
    environment = {"TRIPLINE_REGISTRY_KEY": "k"}
    for words in ([], ["--rule", "1", "--all-active"]):
        result = CliRunner().invoke(main, ["backtest", *words, *span[:4]], env=environment)
        assert result.exit_code == 2
        assert "Give one of FILE, --rule and --all-active." in result.output
    local = ["backtest", "--rule", "1", "--from", "2026-05-01T00:00:00", "--to", "2026-05-02T00:00:00Z"]
    result = CliRunner().invoke(main, local, env=environment)
    assert "expected a time with an offset" in result.output
