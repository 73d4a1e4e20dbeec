"""Lists and parameters: what a change makes of them, and what rules that name them need."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import ChangeNamed, ChangeRule, PublishRule
from rules_registry.domain.event_record import to_json
from rules_registry.domain.events import ListChanged, NamedChanged, ParameterChanged
from rules_registry.domain.named.named_value_decisions import Reference, decide_named, references
from rules_registry.domain.named_value import NamedEntry, value_from_json, value_json
from rules_registry.domain.rule_import import ImportRefused
from rules_registry.errors import StaleVersion, UnknownNames
from rules_registry.service.named.named_values import NamedChange
from rules_registry.service.ports import Answer
from rules_registry.service.registry import Repeatable, RuleChange
from rules_registry.service.rule_file_lines import read_records
from rules_registry.service.rule_import import ImportOutcome
from tests.unit.contracts.support.strategies import filters_of
from tests.unit.rules_registry.support.fakes import FakeStore, new_registry
from tests.unit.rules_registry.support.samples import BODY, NOW
from tripline_contracts import event_type_loader, schemas
from tripline_contracts.filters.filter_parser import Filter
from tripline_contracts.rules.rule_definition import parse

OLD = NamedEntry("list", "watched", 3, ("a", "b"), 9, NOW, "ada")
ONE = NamedEntry("parameter", "watched", 1, Decimal("1.5"), 4, NOW, "ada")

DECIDED: list[tuple[NamedEntry | None, ChangeNamed, NamedChanged | None, str]] = [
    (None, ChangeNamed("list", "watched", None, ()), ListChanged("watched", 1, ()), "an empty list is one"),
    (None, ChangeNamed("list", "watched", {0}, ("a",)), ListChanged("watched", 1, ("a",)), "0: not there yet"),
    (OLD, ChangeNamed("list", "watched", {3}, ("b",)), ListChanged("watched", 4, ("b",)), "one less"),
    (OLD, ChangeNamed("list", "watched", None, ("a", "b")), None, "the same values"),
    (None, ChangeNamed("parameter", "watched", None, Decimal(0)), ParameterChanged("watched", 1, Decimal(0)), "zero"),
    (ONE, ChangeNamed("parameter", "watched", range(1, 9), Decimal(2)), ParameterChanged("watched", 2, Decimal(2)),
     "any version of what is there"),
    (ONE, ChangeNamed("parameter", "watched", None, Decimal("1.50")), None, "the same value"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("current", "command", "event", "reason"), DECIDED, ids=[case[-1] for case in DECIDED]
)
def test_decided(
    current: NamedEntry | None, command: ChangeNamed, event: NamedChanged | None, reason: str
) -> None:
    assert decide_named(current, command) == event, reason


@pytest.mark.parametrize(
    ("current", "expected"), [(None, {1}), (None, range(1, 9)), (OLD, {2}), (OLD, frozenset()), (OLD, {0})]
)
def test_a_version_that_is_not_the_expected_one(current: NamedEntry | None, expected: Any) -> None:
    # stale even where nothing would change
    with pytest.raises(StaleVersion):
        decide_named(current, ChangeNamed("list", "watched", expected, ("a", "b")))


@pytest.mark.parametrize("named", [OLD, ONE])
def test_values_come_back_from_json(named: NamedEntry) -> None:
    assert named.value is not None
    assert value_from_json(named.kind, value_json(named.value)) == named.value


NAMING: dict[str, Any] = {
    **BODY,
    "limit": {"parameter": "most"},
    "filter": {
        "all": [
            {"field": "paymentType", "operator": "=", "value": "CSH"},
            {
                "any": [
                    {"not": {"field": "payeeId", "in": {"list": "watched"}}},
                    {"field": "payeeId", "in": ["1"]},
                ]
            },
            {"field": "paymentAmount", "operator": "<", "value": {"parameter": "least"}},
        ]
    },
}

CONDITION = {
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "COUNT",
    "limitOperatorType": ">",
    "limit": 5,
    "windowSeconds": 60,
}
CHAINED: dict[str, Any] = {
    "conditions": {
        "all": [
            {**CONDITION, "limit": {"parameter": "most"}},
            {"not": {**CONDITION, "filter": {"field": "payeeId", "in": {"list": "watched"}}}},
        ]
    },
}


def test_the_places_of_names() -> None:
    assert references(parse(NAMING, event_type_loader.load())) == (
        Reference("parameter", "most", "limit"),
        Reference("list", "watched", "filter.all[1].any[0].not.in"),
        Reference("parameter", "least", "filter.all[2].value"),
    )
    assert references(parse(BODY, event_type_loader.load())) == ()
    assert references(parse(CHAINED, event_type_loader.load())) == (
        Reference("parameter", "most", "conditions.all[0].limit"),
        Reference("list", "watched", "conditions.all[1].not.filter.in"),
    )


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(filters_of(event_type_loader.load()))
def test_every_name_has_a_place(drawn: Filter) -> None:
    named = references(replace(parse(NAMING, event_type_loader.load()), filter=drawn))
    assert {reference.name for reference in named if reference.kind == "list"} == drawn.lists()
    assert {reference.name for reference in named if reference.kind == "parameter"} == drawn.parameters() | {
        "most"
    }


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


def told(done: NamedChange) -> Answer:
    return Answer(
        201 if done.is_new else 200, {}, {"version": done.named.version, "by": done.named.changed_by}
    )


def change(
    store: FakeStore, kind: Any, name: str, value: Any, actor: str = "ada", key: Repeatable | None = None
) -> tuple[int, Any, Any]:
    answer = new_registry(store).change_named(Actor(actor), ChangeNamed(kind, name, None, value), told, key)
    return answer.status, answer.body["version"], answer.body["by"]


def published(done: RuleChange) -> Answer:
    return Answer(201, {}, {"ruleId": done.rule.rule_id})


def publish(store: FakeStore, body: dict[str, Any]) -> int:
    definition = parse(body, event_type_loader.load())
    command = new_registry(store).publish(
        Actor("ada"), lambda rule: PublishRule(rule, None, definition, None), published
    )
    return int(command.body["ruleId"])


def test_made_changed_left(store: FakeStore) -> None:
    assert change(store, "list", "watched", ("a",)) == (201, 1, "ada")
    assert change(store, "list", "watched", ("a", "b"), "bob") == (200, 2, "bob")
    assert change(store, "list", "watched", ("a", "b"), "eve") == (200, 2, "bob")
    assert change(store, "parameter", "watched", Decimal(5)) == (201, 1, "ada")
    assert store.types() == ["ListChanged", "ListChanged", "ParameterChanged"]


def test_a_repeated_request_is_one_change(store: FakeStore) -> None:
    key = Repeatable("k", "hash")
    for _ in range(2):
        assert change(store, "list", "watched", ("a",), key=key) == (201, 1, "ada")
    assert store.types() == ["ListChanged"]


def test_events_keep_the_contract_and_have_their_positions(store: FakeStore) -> None:
    publish(store, BODY)
    change(store, "list", "watched", ("a", "b"))
    change(store, "parameter", "most", Decimal("1.50"))
    bodies = [to_json(recorded) for recorded in store.log.recorded]
    check = schemas.validator("rules.v1")
    for number, body in enumerate(bodies, start=1):
        check(body | {"eventId": f"00000000-0000-4000-8000-{number:012}"})
    assert [body["position"] for body in bodies] == [1, 2, 3]
    assert {name: bodies[1][name] for name in ("name", "version", "values")} == {
        "name": "watched", "version": 1, "values": ["a", "b"],
    }  # fmt: skip
    assert bodies[2]["value"] == "1.5"
    # a list moves no window
    assert bodies[0]["widestWindows"] == bodies[1]["widestWindows"] == bodies[2]["widestWindows"]


def test_a_rule_may_name_only_what_exists(store: FakeStore) -> None:
    with pytest.raises(UnknownNames) as refused:
        publish(store, NAMING)
    assert [problem.field for problem in refused.value.problems] == [
        "limit", "filter.all[1].any[0].not.in", "filter.all[2].value",
    ]  # fmt: skip
    assert "no list 'watched'" in refused.value.problems[1].message
    change(store, "list", "watched", ())
    change(store, "parameter", "least", Decimal(1))
    # of the same name, and of the other kind
    change(store, "list", "most", ())
    with pytest.raises(UnknownNames, match="does not exist") as refused:
        publish(store, NAMING)
    assert [problem.message for problem in refused.value.problems] == ["there is no parameter 'most' yet"]
    change(store, "parameter", "most", Decimal(1))
    rule_id = publish(store, NAMING)
    unknown = parse({**NAMING, "limit": {"parameter": "Most"}}, event_type_loader.load())
    with pytest.raises(UnknownNames):
        new_registry(store).change(Actor("ada"), ChangeRule(rule_id, None, None, unknown, None), published)
    assert store.types()[-1] == "RulePublished"


def importing(store: FakeStore, *records: dict[str, Any]) -> tuple[Any, ...]:
    kept: list[ImportOutcome] = []

    def answer(done: ImportOutcome) -> Answer:
        kept.append(done)
        return Answer(200, {}, {})

    new_registry(store).import_rules(Actor("ada"), read_records(records), answer, atomic=False)
    return kept[0].results


def test_an_import_refuses_lines_that_name_what_is_not(store: FakeStore) -> None:
    good, bad = {**BODY, "ruleId": 1, "ruleState": "ACTIVE"}, {**NAMING, "ruleId": 2, "ruleState": "ACTIVE"}
    first, second = importing(store, good, bad)
    assert (first.outcome, second.outcome) == ("published", "refused")
    assert second.problems[0].field == "limit"
    # nothing of a line that is refused: the pause neither
    with pytest.raises(ImportRefused):
        importing(store, {**NAMING, "ruleId": 1, "ruleState": "PAUSE"})
    assert store.types() == ["RulePublished"]
