"""The use cases on a log in memory: what is appended, what is answered, what a repeated request gets."""

from __future__ import annotations

from typing import Any

import pytest

from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import (
    ChangeRule,
    ChangeSettings,
    DeleteRule,
    PauseRule,
    PublishRule,
    ResumeRule,
)
from rules_registry.domain.engine_settings import EngineSettings
from rules_registry.domain.event_record import to_json
from rules_registry.errors import IdempotencyKeyReused, StaleVersion, WrongState
from rules_registry.service.ports import Answer
from rules_registry.service.registry import KEY_LIFETIME_MS, Registry, Repeatable, RuleChange
from tests.unit.rules_registry.support.fakes import FakeClock, FakeStore, new_registry
from tests.unit.rules_registry.support.samples import NOW, SUM, definition
from tripline_contracts import schemas
from tripline_contracts.rules.rule_definition import RuleDefinition


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


def told(done: RuleChange) -> Answer:
    return Answer(200, {}, {"ruleId": done.rule.rule_id, "position": done.position, "by": done.changed_by})


def publish(registry: Registry, wanted: RuleDefinition = SUM, key: Repeatable | None = None) -> Answer:
    return registry.publish(Actor("ada"), lambda rule_id: PublishRule(rule_id, None, wanted, None), told, key)


def test_ids_and_positions_count_up(store: FakeStore) -> None:
    registry = new_registry(store)
    answers = [publish(registry) for _ in range(3)]
    assert [answer.body["ruleId"] for answer in answers] == [1, 2, 3]
    assert [answer.body["position"] for answer in answers] == [1, 2, 3]


def test_the_id_of_a_deleted_rule_is_not_given_again(store: FakeStore) -> None:
    registry = new_registry(store)
    publish(registry)
    registry.change(Actor("ada"), DeleteRule(1, None), told)
    assert publish(registry).body["ruleId"] == 2


def test_every_event_keeps_the_contract_and_says_who_and_when(store: FakeStore) -> None:
    registry = new_registry(store)
    publish(registry)
    registry.change(Actor("ada"), PauseRule(1, None), told)
    registry.change(Actor("bob"), ChangeRule(1, None, "B", definition(60, "payeeId"), None), told)
    registry.change_settings(Actor("eve"), ChangeSettings(None, EngineSettings(max_disorder_seconds=1)))
    registry.change(Actor("bob"), DeleteRule(1, None), told)
    check = schemas.validator("rules.v1")
    for number, recorded in enumerate(store.log.recorded, start=1):
        value = to_json(recorded) | {"eventId": f"00000000-0000-4000-8000-{number:012}"}
        check(value)
        assert (value["position"], value["occurredAt"]) == (number, NOW)
    assert [recorded.actor for recorded in store.log.recorded] == ["ada", "ada", "bob", "eve", "bob"]
    assert len({recorded.event_id for recorded in store.log.recorded}) == 5


def widest(store: FakeStore) -> list[tuple[Any, Any, Any]]:
    return [(w["windowSeconds"], w["ruleId"], w["version"]) for w in store.log.recorded[-1].widest]


def test_all_rules_are_looked_at_only_where_their_number_or_the_widest_may_be_others(
    store: FakeStore,
) -> None:
    registry = new_registry(store)

    def reads(command: ChangeRule | PauseRule | ResumeRule | DeleteRule) -> list[str]:
        store.log.whole_reads.clear()
        registry.change(Actor("ada"), command, told)
        return list(store.log.whole_reads)

    publish(registry, definition(100))
    publish(registry, definition(900))
    assert store.log.whole_reads == ["rule_usage", "rule_usage"], "one more rule each"
    assert reads(ChangeRule(1, None, None, definition(90), None)) == []
    assert reads(PauseRule(2, None)) == []
    assert reads(ResumeRule(2, None)) == ["rule_usage"], "one more active rule"
    assert reads(ChangeRule(2, None, None, definition(950), None)) == [], "still the widest"
    assert reads(ChangeRule(2, None, None, definition(50), None)) == ["needing"]
    assert reads(DeleteRule(2, None)) == []
    assert reads(DeleteRule(1, None)) == ["needing"], "it was the widest again"


def test_widest_windows_are_those_after_the_event(store: FakeStore) -> None:
    registry = new_registry(store)
    publish(registry, definition(100))
    publish(registry, definition(900))
    assert widest(store) == [(900, 2, 1)]
    registry.change(Actor("ada"), PauseRule(2, None), told)
    assert widest(store) == [(900, 2, 1)], "a paused rule keeps its history"
    registry.change(Actor("ada"), ChangeRule(2, None, None, definition(50), None), told)
    assert widest(store) == [(100, 1, 1)], "a shortened one does not"
    publish(registry, definition(5, "payeeId"))
    assert widest(store) == [(100, 1, 1), (5, 3, 1)], "per grouping set, sorted by it"
    registry.change(Actor("ada"), DeleteRule(1, None), told)
    assert widest(store) == [(50, 2, 3), (5, 3, 1)]


def test_what_is_refused_appends_nothing(store: FakeStore) -> None:
    registry = new_registry(store)
    publish(registry)
    with pytest.raises(StaleVersion):
        registry.change(Actor("ada"), PauseRule(1, frozenset({9})), told)
    with pytest.raises(StaleVersion):
        registry.change_settings(Actor("ada"), ChangeSettings(frozenset({9}), EngineSettings()))
    assert store.types() == ["RulePublished"]


def test_settings_that_hold_already_append_nothing(store: FakeStore) -> None:
    registry = new_registry(store)
    wanted = EngineSettings(allowed_lateness_seconds=5)
    assert registry.change_settings(Actor("ada"), ChangeSettings(frozenset({0}), wanted)).version == 1
    assert registry.change_settings(Actor("ada"), ChangeSettings(frozenset({1}), wanted)).version == 1
    assert store.types() == ["SettingsChanged"]


def test_a_repeated_request_gets_its_first_answer(store: FakeStore) -> None:
    registry = new_registry(store)
    key = Repeatable("k", "hash")
    assert publish(registry, SUM, key) == publish(registry, SUM, key)
    assert store.types() == ["RulePublished"]


def test_a_key_is_for_one_request(store: FakeStore) -> None:
    registry = new_registry(store)
    publish(registry, SUM, Repeatable("k", "hash"))
    with pytest.raises(IdempotencyKeyReused):
        publish(registry, SUM, Repeatable("k", "another"))
    assert store.types() == ["RulePublished"]


def test_a_key_is_the_caller_s_own_and_ends(store: FakeStore) -> None:
    clock = FakeClock()
    registry = new_registry(store, clock)
    key = Repeatable("k", "hash")
    publish(registry, SUM, key)
    registry.publish(Actor("bob"), lambda rule_id: PublishRule(rule_id, None, SUM, None), told, key)
    clock.now += KEY_LIFETIME_MS - 1
    publish(registry, SUM, key)
    assert len(store.types()) == 2
    clock.now += 1
    publish(registry, SUM, key)
    assert len(store.types()) == 3


def test_a_refused_request_keeps_no_key(store: FakeStore) -> None:
    registry = new_registry(store)
    publish(registry)
    registry.change(Actor("ada"), PauseRule(1, None), told)
    with pytest.raises(WrongState):
        registry.change(Actor("ada"), PauseRule(1, None), told, Repeatable("k", "hash"))
    assert store.log.keys == {}
