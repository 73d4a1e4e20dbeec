"""Rules that need more history than the engine may hold are refused when they are written."""

from __future__ import annotations

from typing import Any

import pytest
from environs import Env

from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import PublishRule
from rules_registry.domain.history_quota import HistoryQuota
from rules_registry.domain.quotas import Quotas
from rules_registry.errors import TooMuchHistory
from rules_registry.service.ports import Answer
from rules_registry.service.registry import RuleChange
from rules_registry.service.rule_file_lines import read_records
from rules_registry.service.rule_import import ImportOutcome
from rules_registry.settings import read_api_settings
from tests.unit.rules_registry.support.fakes import FakeStore, new_registry
from tripline_contracts import event_type_loader
from tripline_contracts.rules.rule_definition import parse
from tripline_http.errors import ConfigurationError

DAY = 86_400
RULE: dict[str, Any] = {
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "COUNT",
    "aggregateFieldName": None,
    "limitOperatorType": ">",
    "limit": "10",
    "windowSeconds": DAY,
}


def rule(**more: Any) -> Any:
    return parse({**RULE, **more}, event_type_loader.load())


def test_a_window_up_to_the_limit_is_taken_and_one_beyond_it_refused() -> None:
    room = HistoryQuota(most=100 * DAY, rate=100)
    room.require(rule())
    with pytest.raises(TooMuchHistory) as refused:
        room.require(rule(windowSeconds=DAY + 1))
    (problem,) = refused.value.problems
    assert problem.field == "windowSeconds"
    assert problem.message.startswith(
        "expected at most 86400 s of transactions: at 100 a second 86401 s keep"
    )


def test_a_bucketed_window_keeps_transactions_for_a_bucket() -> None:
    room = HistoryQuota(most=100 * DAY, rate=100)
    room.require(rule(windowSeconds=30 * DAY, precision=f"bucketed({DAY})"))
    with pytest.raises(TooMuchHistory) as refused:
        room.require(rule(windowSeconds=30 * DAY, precision=f"bucketed({DAY + 1})"))
    assert refused.value.problems[0].field == "precision"


def test_a_party_keeps_an_entry_for_each_side() -> None:
    room = HistoryQuota(most=100 * DAY, rate=100)
    by_account = rule(groupingKeyNames=["account"], windowSeconds=DAY // 2)
    room.require(by_account)
    with pytest.raises(TooMuchHistory) as refused:
        room.require(rule(groupingKeyNames=["account"], windowSeconds=DAY // 2 + 1))
    message = refused.value.problems[0].message
    assert message.startswith(
        "expected at most 43200 s of transactions: at 100 a second 43201 s keep 8640200"
    )
    assert room.held_by([by_account, rule()]) == 2 * 100 * DAY


def test_the_widest_of_a_chained_rule_counts() -> None:
    condition = {name: value for name, value in RULE.items() if name != "windowSeconds"}
    both = [{**condition, "windowSeconds": seconds} for seconds in (60, 2 * DAY)]
    with pytest.raises(TooMuchHistory):
        HistoryQuota(most=100 * DAY, rate=100).require(
            parse({"conditions": {"all": both}}, event_type_loader.load())
        )


ENVIRONMENT = {"TRIPLINE_REGISTRY_DSN": "postgresql://", "TRIPLINE_API_KEYS_FILE": "keys.json"}


def settings(monkeypatch: pytest.MonkeyPatch, **more: str) -> Any:
    for name, value in {**ENVIRONMENT, **more}.items():
        monkeypatch.setenv(name, value)
    return read_api_settings(Env())


def test_without_an_expected_rate_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings(monkeypatch).quotas.history is None


def test_the_settings_name_rate_and_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    quota_settings = settings(
        monkeypatch, TRIPLINE_EXPECTED_RATE="2000", TRIPLINE_MAX_HISTORY="5000000"
    ).quotas.history
    assert quota_settings == HistoryQuota(most=5_000_000, rate=2000)


@pytest.mark.parametrize("rate", ["0", "fast"])
def test_a_wrong_rate_is_named(monkeypatch: pytest.MonkeyPatch, rate: str) -> None:
    with pytest.raises(ConfigurationError, match="TRIPLINE_EXPECTED_RATE"):
        settings(monkeypatch, TRIPLINE_EXPECTED_RATE=rate)


def told_rule(done: RuleChange) -> Answer:
    return Answer(201, {}, {"ruleId": done.rule.rule_id})


def test_the_use_cases_refuse_it_and_an_import_says_which_line() -> None:
    store = FakeStore()
    registry = new_registry(store, quotas=Quotas(history=HistoryQuota(most=60_000, rate=1000)))
    with pytest.raises(TooMuchHistory):
        registry.publish(Actor("ada"), lambda number: PublishRule(number, None, rule(), None), told_rule)
    assert store.log.recorded == []
    line = {**RULE, "ruleId": 7, "ruleState": "ACTIVE", "windowMinutes": 2}
    del line["windowSeconds"]
    kept: list[ImportOutcome] = []

    def told(done: ImportOutcome) -> Answer:
        kept.append(done)
        return Answer(200, {}, {})

    fine = {**line, "ruleId": 8, "windowMinutes": 1}
    registry.import_rules(Actor("ada"), read_records([line, fine]), told, atomic=False)
    refused, taken = kept[0].results
    assert (refused.outcome, [problem.field for problem in refused.problems]) == (
        "refused",
        ["windowSeconds"],
    )
    assert taken.outcome == "published"
