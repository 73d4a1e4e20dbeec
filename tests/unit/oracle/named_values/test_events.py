"""Changes of named lists and parameters, and references to them, each by a case done by hand."""

from __future__ import annotations

import json

import pytest

from tests.oracle.builders.drafts import Draft, definition_document
from tests.oracle.malformed.named_values import wrong_changes, wrong_references
from tests.oracle.parsers.named_values import MOST_VALUES
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json
from tests.unit.oracle.support.named_values import WATCHED, Script, count, ids, rows, total
from tests.unit.oracle.support.timeline import pay, play


def test_events_as_rules_v1_has_them() -> None:
    script = Script()
    script.watch("25")
    a_list, a_parameter = json.loads(script.watch("12", "25")), json.loads(script.most("1.5"))
    shared = {"eventId", "position", "occurredAt", "actor", "widestWindows", "type", "name", "version"}
    assert a_list.keys() == {*shared, "values"}
    assert a_parameter.keys() == {*shared, "value"}
    assert (a_list["type"], a_list["version"], a_list["position"]) == ("ListChanged", 2, 2)
    assert (a_parameter["type"], a_parameter["version"], a_parameter["value"]) == (
        "ParameterChanged",
        1,
        "1.5",
    )


def test_the_definition_tells_the_name_and_not_the_value() -> None:
    what = total(only=WATCHED)
    document = definition_document(what)
    assert (document["limit"], document["filter"]) == ({"parameter": "most"}, WATCHED)
    script = Script()
    outcome = play(script.watch("25"), script.most("1"), script.rule(what), pay(1, 0, "2"))
    assert [alert["definitionHash"] for alert in outcome.alerts] == [definition_hash(document)]


@pytest.mark.parametrize("number", range(len(wrong_references())))
def test_a_wrong_reference_makes_the_definition_invalid(number: int) -> None:
    document: Json = {**definition_document(count()), **wrong_references()[number]}
    event = json.loads(Script().rule(count()))
    event.update(definition=document, definitionHash=definition_hash(document))
    outcome = play(json.dumps(event).encode(), pay(1, 0))
    assert (outcome.skipped_rule_events, outcome.counts) == (1, {})


@pytest.mark.parametrize("number", range(len(wrong_changes(0))))
def test_a_change_that_cannot_be_read_is_skipped_and_takes_no_position(number: int) -> None:
    script = Script()
    names = script.watch("25"), script.most("1", "watched")
    outcome = play(
        *names,
        json.dumps({**wrong_changes(0)[number], "position": 3}).encode(),
        script.rule(both()),
        pay(1, 0),
    )
    assert (ids(outcome), outcome.skipped_rule_events) == (["t1"], 1)


def both() -> Draft:
    """A list and a parameter of one name, which have nothing to do with each other."""
    return count(only=WATCHED, parameter="watched")


def test_lists_and_parameters_have_names_of_their_own() -> None:
    script = Script()
    outcome = play(script.watch("25"), script.most("1", "watched"), script.rule(both()), pay(1, 0))
    assert rows(outcome, "limit") == [("t1", "1")]


@pytest.mark.parametrize("name", ["a", "Z9", "a-_9", "a" * 64])
def test_names(name: str) -> None:
    what = count(only={"field": "payeeId", "in": {"list": name}}, parameter=name)
    script = Script()
    events = [script.change_list(name, ["25"], 0), script.most("1", name), script.rule(what)]
    assert ids(play(*events, pay(1, 0))) == ["t1"]


def test_case_counts() -> None:
    script = Script()
    outcome = play(script.change_list("Watched", ["25"], 0), script.rule(count(only=WATCHED)), pay(1, 0))
    assert outcome.counts == {}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        (["25"], ["t1"]),
        ([25], ["t1"]),
        (["12", "25", "25", "12"], ["t1"]),
        (["7", "25", "12"], ["t1"]),
        (["025", "2", "5"], []),
        (["z" * 64, "\U0001d4b3" * 64, "25"], ["t1"]),
        ([*map(str, range(MOST_VALUES))], ["t1"]),
    ],
)
def test_what_a_list_may_hold(values: list[Json], expected: list[str]) -> None:
    script = Script()
    outcome = play(script.watch(*values), script.rule(count(only=WATCHED)), pay(1, 0))
    assert (ids(outcome), outcome.skipped_rule_events) == (expected, 0)


@pytest.mark.parametrize(
    ("field", "value"), [("beneficiaryId", "12"), ("paymentType", "CSH"), ("payerId", "25")]
)
def test_of_every_text_and_enum(field: str, value: str) -> None:
    only: Json = {"field": field, "in": {"list": "watched"}}
    script = Script()
    assert ids(play(script.watch(value), script.rule(count(only=only)), pay(1, 0))) == ["t1"]
    assert ids(play(Script().watch("CRD", "z"), script.rule(count(only=only)), pay(1, 0))) == []


@pytest.mark.parametrize(
    ("operator", "expected"),
    [("=", "010"), ("!=", "101"), (">=", "011"), ("<=", "110"), (">", "001"), ("<", "100")],
)
def test_a_parameter_with_every_operator_of_filters_and_limits(operator: str, expected: str) -> None:
    only: Json = {"field": "paymentAmount", "operator": operator, "value": {"parameter": "most"}}
    held = [f"t{n}" for n, answer in enumerate(expected, 1) if answer == "1"]
    records = [pay(1, 0, "1.4"), pay(2, 100, "1.50"), pay(3, 200, "1.6")]
    script = Script()
    events = [script.most("1.5"), script.rule(count(only=only)), script.rule(total(operator), 2)]
    outcome = play(*events, *records)
    assert [
        name for name, alert in zip(ids(outcome), outcome.alerts, strict=True) if alert["ruleId"] == 1
    ] == held
    assert [
        name for name, alert in zip(ids(outcome), outcome.alerts, strict=True) if alert["ruleId"] == 2
    ] == held


@pytest.mark.parametrize(("value", "limit"), [("1e0", "1"), ("-0", "0"), ("0.5000000", "0.5"), (1, "1")])
def test_a_parameter_is_a_decimal_and_told_plain(value: Json, limit: str) -> None:
    script = Script()
    assert rows(play(script.most(value), script.rule(total()), pay(1, 0, "2")), "limit") == [("t1", limit)]


def test_a_null_is_in_no_list() -> None:
    script = Script()
    beneficiary: Json = {"field": "beneficiaryId", "in": {"list": "watched"}}
    events = [script.watch("12"), script.rule(count(only={"not": beneficiary}))]
    assert ids(play(*events, pay(1, 0), pay(2, 1, beneficiaryId=None))) == ["t2"]
