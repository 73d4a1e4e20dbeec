"""Quotas of rules, lists, parameters and history: what has grown beyond them is refused, as a whole."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from environs import Env

from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import (
    ChangeNamed,
    ChangeOfRule,
    DeleteRule,
    PauseRule,
    PublishRule,
    ResumeRule,
)
from rules_registry.domain.history_quota import HistoryQuota
from rules_registry.domain.quotas import Quota, Quotas, Usage
from rules_registry.errors import QuotaExceeded
from rules_registry.service.ports import Answer
from rules_registry.service.registry import Registry
from rules_registry.service.rule_file_lines import read_records
from rules_registry.settings import QUOTAS, read_api_settings
from tests.unit.rules_registry.support.fakes import FakeStore, new_registry
from tests.unit.rules_registry.test_history_quota import DAY, ENVIRONMENT, RULE, rule
from tripline_http.errors import ConfigurationError

DONE: Callable[[Any], Answer] = lambda _: Answer(200, {}, {})  # noqa: E731 - one line says it


def registry_of(
    store: FakeStore, limits: Usage | None = None, history: HistoryQuota | None = None
) -> Registry:
    return new_registry(store, quotas=Quotas(limits or {}, history))


def publish(registry: Registry, *, paused: bool = False, **definition: Any) -> None:
    registry.publish(
        Actor("ada"), lambda number: PublishRule(number, None, rule(**definition), None, paused=paused), DONE
    )


def change(registry: Registry, command: ChangeOfRule) -> None:
    registry.change(Actor("ada"), command, DONE)


def put(registry: Registry, name: str, *values: str) -> None:
    registry.change_named(Actor("ada"), ChangeNamed("list", name, None, values), DONE)


def record(rule_id: int, state: str = "ACTIVE", **more: Any) -> dict[str, Any]:
    return {"ruleId": rule_id, "ruleState": state, **(RULE if state == "ACTIVE" else {}), **more}


@pytest.mark.parametrize("quota", ["rules", "activeRules"])
def test_a_rule_beyond_the_quota_is_refused_and_leaves_nothing(quota: Quota) -> None:
    store = FakeStore()
    registry = registry_of(store, {quota: 2})
    publish(registry)
    publish(registry)
    with pytest.raises(QuotaExceeded) as refused:
        publish(registry)
    assert (refused.value.quota, refused.value.used, refused.value.allowed) == (quota, 3, 2)
    assert len(store.log.recorded) == 2


def test_paused_rules_are_no_active_ones_until_they_are_resumed() -> None:
    store = FakeStore()
    registry = registry_of(store, {"activeRules": 1})
    publish(registry)
    publish(registry, paused=True)
    with pytest.raises(QuotaExceeded, match="2 active rules; 1 are allowed"):
        change(registry, ResumeRule(2, None))
    change(registry, PauseRule(1, None))
    change(registry, ResumeRule(2, None))
    assert store.types()[-1] == "RuleResumed"


def test_a_deleted_rule_makes_way() -> None:
    registry = registry_of(FakeStore(), {"rules": 1})
    publish(registry)
    change(registry, DeleteRule(1, None))
    publish(registry)


def test_what_is_above_a_lowered_quota_may_stay_and_shrink() -> None:
    store = FakeStore()
    for _ in range(3):
        publish(registry_of(store))
    lowered = registry_of(store, {"rules": 1, "activeRules": 1})
    change(lowered, PauseRule(1, None))
    change(lowered, DeleteRule(2, None))
    with pytest.raises(QuotaExceeded):
        publish(lowered)


def test_lists_and_parameters_are_counted_by_name_and_lists_by_size_too() -> None:
    store = FakeStore()
    registry = registry_of(store, {"lists": 1, "parameters": 1, "listBytes": 20})
    put(registry, "watched", "12345", "67890")  # ["12345", "67890"]: 18 bytes
    put(registry, "watched", "12345", "6789012")  # 20 bytes, and the same name
    for name, values in (("other", ()), ("watched", ("12345", "67890123"))):
        with pytest.raises(QuotaExceeded):
            put(registry, name, *values)
    registry.change_named(Actor("ada"), ChangeNamed("parameter", "high", None, Decimal(1)), DONE)
    with pytest.raises(QuotaExceeded) as refused:
        registry.change_named(Actor("ada"), ChangeNamed("parameter", "low", None, Decimal(1)), DONE)
    assert (refused.value.quota, refused.value.used, refused.value.allowed) == ("parameters", 2, 1)
    assert len(store.log.recorded) == 3


def test_an_import_counts_as_a_whole() -> None:
    store = FakeStore()
    registry = registry_of(store, {"rules": 2})
    publish(registry)
    publish(registry)
    swapped = [record(11), record(12), record(1, "DELETE"), record(2, "DELETE")]
    registry.import_rules(Actor("ada"), read_records(swapped), DONE, atomic=False)
    assert len(store.log.rules()) == 2
    before = len(store.log.recorded)
    for atomic in (True, False):
        with pytest.raises(QuotaExceeded):
            registry.import_rules(Actor("ada"), read_records([record(11), record(13)]), DONE, atomic=atomic)
    assert len(store.log.recorded) == before


def test_history_is_that_of_the_widest_window_on_each_anchor() -> None:
    quota = HistoryQuota(most=300 * DAY, rate=100)
    definitions = [
        rule(),  # payeeId: one day
        rule(windowSeconds=60),
        rule(groupingKeyNames=["beneficiaryId"], windowSeconds=DAY // 2),
        rule(windowSeconds=30 * DAY, precision=f"bucketed({DAY})"),  # no more than a bucket
        rule(groupingKeyNames=["paymentType"], windowSeconds=DAY),  # no anchor of its own: the global one
    ]
    assert quota.held_by(definitions) == 100 * (DAY + DAY // 2 + DAY)
    assert quota.held_by([]) == 0


def test_history_of_all_rules_together_is_refused() -> None:
    store = FakeStore()
    registry = registry_of(store, history=HistoryQuota(most=150 * DAY, rate=100))
    publish(registry)
    publish(registry)  # on the same anchor: nothing more is held
    with pytest.raises(QuotaExceeded) as refused:
        publish(registry, groupingKeyNames=["beneficiaryId"])
    assert (refused.value.quota, refused.value.used, refused.value.allowed) == (
        "history",
        200 * DAY,
        150 * DAY,
    )


@pytest.mark.parametrize("quota", QUOTAS)
def test_each_quota_has_its_setting(monkeypatch: pytest.MonkeyPatch, quota: Quota) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    variable, usual = QUOTAS[quota]
    assert read_api_settings(Env()).quotas.limits[quota] == usual
    monkeypatch.setenv(variable, "7")
    assert read_api_settings(Env()).quotas.limits == {
        q: 7 if q == quota else n for q, (_, n) in QUOTAS.items()
    }
    monkeypatch.setenv(variable, "many")
    with pytest.raises(ConfigurationError, match=variable):
        read_api_settings(Env())
