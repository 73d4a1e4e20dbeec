"""What records make of the rules there are: next versions, kept ids, results by line, all or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from rules_registry.domain.actor import Actor
from rules_registry.domain.commands import ChangeRule, DeleteRule, PauseRule, PublishRule, ResumeRule
from rules_registry.domain.event_record import to_json
from rules_registry.domain.rule import Rule
from rules_registry.domain.rule_import import ImportedRule, ImportRefused, LineResult, commands_of
from rules_registry.errors import RuleIsDeleted, RuleNotFound
from rules_registry.service.ports import Answer
from rules_registry.service.registry import Repeatable
from rules_registry.service.rule_file_lines import read_text
from rules_registry.service.rule_import import ImportOutcome
from tests.unit.rules_registry.support.fakes import FakeStore, new_registry
from tests.unit.rules_registry.support.samples import SUM, definition, rule
from tripline_contracts import schemas

OTHER = definition(60)
PAUSED, DELETED = rule(state="PAUSED"), rule(state="DELETED")
CHANGE = ChangeRule(7, None, None, OTHER, None)

ASKED: list[tuple[Rule | None, ImportedRule, list[Any], str]] = [
    (None, ImportedRule("ACTIVE", 7, "n", SUM, 5), [PublishRule(7, "n", SUM, 5)], "a new rule under its id"),
    (None, ImportedRule("ACTIVE", 7, "n", SUM, 5, 9), [PublishRule(7, "n", SUM, 5, effective_until=9)], "with an end"),
    (rule(), ImportedRule("ACTIVE", 7, None, SUM, 5, 9), [ChangeRule(7, None, None, SUM, 5, 9)], "a version with one"),
    (None, ImportedRule("PAUSE", 7, None, SUM), [PublishRule(7, None, SUM, None, paused=True)], "new and paused"),
    (rule(), ImportedRule("ACTIVE", 7, None, OTHER), [CHANGE], "the next version"),
    (rule(), ImportedRule("ACTIVE", 7, None, SUM), [ChangeRule(7, None, None, SUM, None)], "even of the same"),
    (PAUSED, ImportedRule("ACTIVE", 7, None, OTHER), [CHANGE, ResumeRule(7, None)],
     "back, and the old definition judges nothing on the way"),
    (rule(), ImportedRule("PAUSE", 7), [PauseRule(7, None)], "a pause"),
    (rule(), ImportedRule("PAUSE", 7, None, SUM), [PauseRule(7, None)], "with the rule as it is"),
    (rule(), ImportedRule("PAUSE", 7, None, OTHER), [PauseRule(7, None), CHANGE], "with another one"),
    (PAUSED, ImportedRule("PAUSE", 7), [], "paused already"),
    (PAUSED, ImportedRule("PAUSE", 7, None, OTHER), [CHANGE], "paused already, with another rule"),
    (rule(), ImportedRule("DELETE", 7), [DeleteRule(7, None)], "a deletion"),
    (DELETED, ImportedRule("DELETE", 7), [], "deleted already"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "wanted", "expected", "reason"), ASKED, ids=[case[-1] for case in ASKED])
def test_the_commands_of_a_record(
    before: Rule | None, wanted: ImportedRule, expected: list[Any], reason: str
) -> None:
    assert commands_of(before, wanted) == expected, reason


@pytest.mark.parametrize(
    ("before", "wanted", "error"),
    [
        (None, ImportedRule("PAUSE", 7), RuleNotFound),
        (None, ImportedRule("DELETE", 7), RuleNotFound),
        (DELETED, ImportedRule("ACTIVE", 7, None, SUM), RuleIsDeleted),
        (DELETED, ImportedRule("PAUSE", 7), RuleIsDeleted),
    ],
)
def test_what_no_command_can_make_so(
    before: Rule | None, wanted: ImportedRule, error: type[Exception]
) -> None:
    with pytest.raises(error):
        commands_of(before, wanted)


def active(rule_id: int, minutes: int = 20) -> str:
    return f"({rule_id}),(active),(payeeId&beneficiaryId),(),(paymentAmount),(SUM),(>),(1000.01),({minutes})"


def run(
    store: FakeStore, *lines: str, atomic: bool = False, key: Repeatable | None = None
) -> list[LineResult]:
    def told(done: ImportOutcome) -> Answer:
        return Answer(200, {}, {"results": done.results})

    answer = new_registry(store).import_rules(
        Actor("ada"), read_text("\n".join(lines)), told, key, atomic=atomic
    )
    results: list[LineResult] = list(answer.body["results"])
    return results


def outcomes(results: list[LineResult]) -> list[tuple[str, int | None, int | None, int | None]]:
    return [(result.outcome, result.version, result.first, result.last) for result in results]


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


def test_each_line_meets_what_those_before_it_made(store: FakeStore) -> None:
    results = run(store, active(9), "9,pause", active(9, 5), "9,delete", "9,delete", active(9))
    assert outcomes(results) == [
        ("published", 1, 1, 1), ("paused", 2, 2, 2), ("changed", 4, 3, 4), ("deleted", 5, 5, 5),
        ("unchanged", 5, None, None), ("refused", None, None, None),
    ]  # fmt: skip
    assert store.types() == ["RulePublished", "RulePaused", "RulePublished", "RuleResumed", "RuleDeleted"]
    assert "was deleted" in results[-1].problems[0].message


def test_ids_are_kept_and_the_registry_goes_on_behind_them(store: FakeStore) -> None:
    run(store, active(40), active(12))
    assert sorted(rule.rule_id for rule in store.log.rules()) == [12, 40]
    assert store.log.next_rule_id() == 41


def test_events_keep_the_contract_and_carry_the_widest_windows(store: FakeStore) -> None:
    run(
        store, active(1, 10), active(2, 30), "2,delete",
        '{"ruleState": "CONTROL", "controlType": "CLEAR_STATE_ALL"}',
        "(3),(pause),(paymentType),,(COUNT_FLINK),(SUM),(LESS),(300),(1440)",
    )  # fmt: skip
    check = schemas.validator("rules.v1")
    for number, recorded in enumerate(store.log.recorded, start=1):
        ids = {"eventId": f"00000000-0000-4000-8000-{number:012}"}
        value = to_json(recorded)
        if "commandId" in value:
            ids["commandId"] = "00000000-0000-4000-8000-999999999999"
        check(value | ids)
    widest = [[w["ruleId"] for w in recorded.widest] for recorded in store.log.recorded]
    assert widest == [[1], [2], [1], [1], [1, 3]]
    assert store.log.rule(3) is not None
    assert store.log.rule(3).state == "PAUSED"  # type: ignore[union-attr]


def test_a_refused_line_does_not_hold_up_the_others(store: FakeStore) -> None:
    results = run(store, "8,pause", active(1), "garbage")
    assert [result.outcome for result in results] == ["refused", "published", "refused"]
    assert [result.number for result in results] == [1, 2, 3]
    assert store.types() == ["RulePublished"]


def test_all_or_nothing_on_request(store: FakeStore) -> None:
    with pytest.raises(ImportRefused) as refused:
        run(store, active(1), "garbage", atomic=True)
    assert [result.outcome for result in refused.value.results] == ["published", "refused"]
    assert store.types() == []
    assert [result.outcome for result in run(store, active(1), active(2), atomic=True)] == ["published"] * 2


def test_an_import_of_which_nothing_can_be_taken_is_refused(store: FakeStore) -> None:
    with pytest.raises(ImportRefused, match="2 of 2"):
        run(store, "garbage", "1,pause")
    assert store.types() == []


def test_what_is_so_already_is_no_refusal(store: FakeStore) -> None:
    run(store, active(1), "1,pause")
    assert [result.outcome for result in run(store, "1,pause", atomic=True)] == ["unchanged"]


def test_controls_act_where_they_stand(store: FakeStore) -> None:
    delete_all = '{"ruleState": "CONTROL", "controlType": "DELETE_RULES_ALL"}'
    results = run(store, active(1), active(2), delete_all, active(3))
    assert outcomes(results)[2] == ("commanded", None, 3, 5)
    assert store.types() == ["RulePublished"] * 2 + ["ControlCommand"] + ["RuleDeleted"] * 2 + [
        "RulePublished"
    ]
    assert [w["ruleId"] for w in store.log.recorded[-1].widest] == [3]
    assert results[2].command_id == store.log.commands[0].command_id


def test_a_repeated_import_happens_once(store: FakeStore) -> None:
    key = Repeatable("k", "hash")
    assert run(store, active(1), key=key) == run(store, active(1), key=key)
    assert store.types() == ["RulePublished"]
