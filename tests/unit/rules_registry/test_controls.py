"""Control commands, exports held against the registry's view, and differences between versions."""

from __future__ import annotations

import itertools
import uuid
from typing import Any, get_args

import pytest

from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import Control, DeleteRule, PublishRule, TraceRule
from rules_registry.domain.event_record import EventRecord, to_json
from rules_registry.domain.events import RulePublished
from rules_registry.domain.issued_command import IssuedCommand
from rules_registry.domain.reports.shard_reports import Comparison, Exported, HeldRule, compare, read_status
from rules_registry.domain.version_diff import Difference, differences
from rules_registry.errors import InvalidStatus, RuleIsDeleted, RuleNotFound
from rules_registry.service.ports import Answer
from rules_registry.service.registry import Registry, RuleChange
from tests.unit.rules_registry.support.fakes import FakeStore, new_registry
from tests.unit.rules_registry.support.samples import NOW, SUM, definition
from tripline_contracts import canonical, control_commands, schemas
from tripline_contracts.rules.legacy import ControlType

HASH, OTHER_HASH = SUM.hash, definition(60).hash


def issued(store: FakeStore, control: Control) -> IssuedCommand:
    taken: list[IssuedCommand] = []

    def told(done: IssuedCommand) -> Answer:
        taken.append(done)
        return Answer(201, {}, {})

    new_registry(store).command(Actor("ops"), control, told)
    return taken[0]


def with_rules(count: int) -> FakeStore:
    store = FakeStore()
    registry = new_registry(store)

    def told(_done: RuleChange) -> Answer:
        return Answer(201, {}, {})

    def wider(rule_id: int) -> PublishRule:
        return PublishRule(rule_id, None, definition(100 + rule_id), None)

    for _ in range(count):
        registry.publish(Actor("ada"), wider, told)
    return store


@pytest.mark.parametrize("control", [c for c in get_args(ControlType) if c != "DELETE_RULES_ALL"])
def test_a_command_is_one_event_and_changes_no_rule(control: ControlType) -> None:
    store = with_rules(2)
    done = issued(store, control)
    assert (done.position, done.last_position, done.deleted_rules) == (3, 3, 0)
    value = to_json(store.log.recorded[-1])
    assert {name: value[name] for name in ("type", "command", "commandId", "position", "actor")} == {
        "type": "ControlCommand",
        "command": control,
        "commandId": done.command_id,
        "position": 3,
        "actor": "ops",
    }
    assert value["widestWindows"] == to_json(store.log.recorded[-2])["widestWindows"]
    assert [rule.state for rule in store.log.rules()] == ["ACTIVE", "ACTIVE"]
    assert store.log.commands == [done]


def test_delete_all_retires_every_rule_with_one_event_each() -> None:
    store = with_rules(3)
    done = issued(store, "DELETE_RULES_ALL")
    assert store.types()[3:] == ["ControlCommand", "RuleDeleted", "RuleDeleted", "RuleDeleted"]
    assert (done.position, done.last_position, done.deleted_rules) == (4, 7, 3)
    assert store.log.rules() == []
    left = [[w["ruleId"] for w in recorded.widest] for recorded in store.log.recorded[3:]]
    assert left == [[3], [3], [3], []], "the widest windows shrink event by event"
    assert issued(store, "DELETE_RULES_ALL").deleted_rules == 0
    assert store.log.next_rule_id() == 4, "ids are never used again"


def test_a_trace_is_one_event_that_names_rule_and_end() -> None:
    store = with_rules(2)
    done = issued(store, TraceRule(2, 300))
    assert (done.position, done.last_position, done.control) == (3, 3, "TRACE_RULE")
    assert done.payload == control_commands.TraceRule(2, NOW + 300_000)
    value = to_json(store.log.recorded[-1])
    assert value["traceUntil"] == value["occurredAt"] + 300_000
    assert {name: value[name] for name in ("type", "command", "commandId", "ruleId")} == {
        "type": "ControlCommand",
        "command": "TRACE_RULE",
        "commandId": done.command_id,
        "ruleId": 2,
    }
    schemas.validator("rules.v1")(
        {**value, "eventId": str(uuid.UUID(int=1)), "commandId": str(uuid.UUID(int=2))}
    )
    assert [rule.version for rule in store.log.rules()] == [1, 1]


def test_a_clock_that_goes_on_meanwhile_changes_no_trace() -> None:
    store, times = with_rules(1), itertools.count(NOW)
    taken: list[IssuedCommand] = []

    def told(done: IssuedCommand) -> Answer:
        taken.append(done)
        return Answer(201, {}, {})

    Registry(store, lambda: next(times), lambda: "id").command(Actor("ops"), TraceRule(1, 1), told)
    assert taken[0].payload == control_commands.TraceRule(1, taken[0].occurred_at + 1000)


def test_there_is_no_trace_without_a_rule() -> None:
    store = with_rules(1)
    with pytest.raises(RuleNotFound, match="no rule 5"):
        issued(store, TraceRule(5, 300))
    new_registry(store).change(Actor("ada"), DeleteRule(1, None), lambda _done: Answer(200, {}, {}))
    with pytest.raises(RuleIsDeleted, match="Rule 1 was deleted"):
        issued(store, TraceRule(1, 300))
    assert "ControlCommand" not in store.types()


def held(rule_id: int, version: int = 1, definition_hash: str = HASH, state: Any = "ACTIVE") -> HeldRule:
    return HeldRule(rule_id, version, definition_hash, state)


COMPARED: list[tuple[list[HeldRule], list[HeldRule], Comparison, str]] = [
    ([], [], Comparison((), (), ()), "nothing is nothing"),
    ([held(1), held(2)], [held(2), held(1)], Comparison((), (), ()), "in any order"),
    ([held(1), held(2)], [held(2)], Comparison((1,), (), ()), "one is missing"),
    ([held(2)], [held(9), held(2), held(1)], Comparison((), (1, 9), ()), "two too many"),
    ([held(1, 2)], [held(1, 1)], Comparison((), (), (1,)), "an older version"),
    ([held(1)], [held(1, 1, OTHER_HASH)], Comparison((), (), (1,)), "another definition"),
    ([held(1)], [held(1, 1, HASH, "PAUSED")], Comparison((), (), (1,)), "another state"),
]


@pytest.mark.parametrize(
    ("ours", "theirs", "expected", "reason"), COMPARED, ids=[case[-1] for case in COMPARED]
)
def test_a_shard_beside_the_registry(
    ours: list[HeldRule], theirs: list[HeldRule], expected: Comparison, reason: str
) -> None:
    differences = compare(ours, theirs)
    assert differences == expected, reason
    assert differences.is_equal == (expected == Comparison((), (), ()))


EXPORT: dict[str, Any] = {
    "kind": "export",
    "commandId": "1b671a64-40d5-491e-99b0-da01ff1f3341",
    "position": 61,
    "shard": 1,
    "shards": 2,
    "exportedAt": NOW,
    "rules": [{"ruleId": 12, "version": 3, "definitionHash": HASH, "state": "PAUSED"}],
}


def test_an_export_is_read() -> None:
    expected = Exported(EXPORT["commandId"], 61, 1, 2, NOW, (held(12, 3, HASH, "PAUSED"),))
    assert read_status(canonical.canonical_json(EXPORT)) == expected


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"kind": "import"}, "an unknown kind"),
    ({"commandId": "1"}, "commandId is not a UUID"),
    ({"commandId": None}, "commandId is not a UUID"),
    ({"rules": None}, "rules is not a list"),
    ({"rules": [5]}, "a rule is not an object"),
    ({"rules": [{**EXPORT["rules"][0], "state": "DELETED"}]}, "state is neither"),
    ({"rules": [{**EXPORT["rules"][0], "definitionHash": "x"}]}, "definitionHash is not"),
    ({"rules": [{**EXPORT["rules"][0], "ruleId": 0}]}, "ruleId is not"),
    ({"shard": 2}, "shard is not"),
    ({"exportedAt": -1}, "exportedAt is not"),
]


@pytest.mark.parametrize(("changes", "said"), BROKEN)
def test_a_broken_export_says_why(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        read_status(canonical.canonical_json({**EXPORT, **changes}))
    assert said in str(refused.value)


def version(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "rule_id": 7, "version": 1, "definition_version": 1, "state": "ACTIVE", "name": "n", "definition": SUM,
        "effective_from": NOW, "effective_until": None,
    }  # fmt: skip
    return to_json(EventRecord(1, "e", NOW, "ada", RulePublished(**{**values, **changes}), ()))


DIFFERENT: list[tuple[dict[str, Any], list[Difference], str]] = [
    ({}, [], "the same"),
    ({"version": 2, "definition_version": 2}, [], "the same again, under another version"),
    ({"state": "PAUSED", "name": "m"},
     [Difference("state", "ACTIVE", "PAUSED"), Difference("name", "n", "m")], "the rule's own"),
    ({"effective_from": NOW + 1}, [Difference("effectiveFrom", NOW, NOW + 1)], "since when"),
    ({"effective_until": NOW}, [Difference("effectiveUntil", None, NOW)], "until when"),
    ({"definition": definition(60, "payeeId", limit="5")},
     [Difference("definition.groupingKeyNames", ["beneficiaryId", "payeeId"], ["payeeId"]),
      Difference("definition.limit", "1000.01", "5"), Difference("definition.windowSeconds", 1200, 60)],
     "field by field"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "expected", "reason"), DIFFERENT, ids=[case[-1] for case in DIFFERENT])
def test_differences(changes: dict[str, Any], expected: list[Difference], reason: str) -> None:
    assert differences(version(), version(**changes)) == expected, reason


def test_a_field_that_one_version_lacks_is_null_there() -> None:
    before, after = version(), version()
    after["definition"]["filter"] = {"field": "paymentType", "operator": "=", "value": "CRD"}
    (added,) = differences(before, after)
    assert added == Difference("definition.filter", None, after["definition"]["filter"])
    (removed,) = differences(after, before)
    assert (removed.before, removed.after) == (added.after, None)
