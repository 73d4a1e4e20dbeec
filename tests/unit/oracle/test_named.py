"""Named lists and parameters, each sentence by a case small enough to do by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.oracle import Outcome, Record, judge
from tests.oracle.builders.drafts import Branch, Draft, chained, definition_document
from tests.oracle.builders.registry import Registry
from tests.oracle.builders.shorthand import batch, draft, payment
from tests.oracle.malformed.named_values import wrong_changes, wrong_references
from tests.oracle.parsers.named_values import MOST_VALUES
from tests.oracle.values.canonical_json import definition_hash
from tests.oracle.values.model import Json, MicroBatch
from tests.oracle.values.rule_counts import Counts

T = 1_700_000_000_000
MINUTE = 60_000
FAR = T + 10**9
WATCHED: Json = {"field": "payeeId", "in": {"list": "watched"}}
LARGE: Json = {"field": "paymentAmount", "operator": ">=", "value": {"parameter": "large"}}


def at(offset: int, seconds: float, amount: str = "1", accepted: float | None = None, **more: Json) -> Record:
    """A payment at T + seconds, on record at T + accepted where that is later."""
    later = seconds if accepted is None else accepted
    return payment(
        offset, T + int(1000 * seconds), amount, record_time=T + int(1000 * later), more=dict(more)
    )


def count(limit: int = 1, **more: Any) -> Draft:
    """So many of a payee in the last minute."""
    return draft("COUNT", ">=", str(limit), by=("payeeId",), seconds=60, **more)


def total(operator: str = ">", **more: Any) -> Draft:
    """The sum of a payee's last minute against the parameter `most`."""
    return draft("SUM", operator, "0", by=("payeeId",), seconds=60, parameter="most", **more)


def steps(*parts: bytes | Record | int) -> Outcome:
    """Rule events, ticks and payments, each a micro-batch of its own."""
    batches: list[MicroBatch] = []
    for part in parts:
        if isinstance(part, bytes):
            batches.append(batch(events=[part]))
        else:
            batches.append(batch(ticks=[part]) if isinstance(part, int) else batch(records=[part]))
    return judge(batches)


def ids(outcome: Outcome) -> list[str]:
    """The transaction of each alert."""
    return [str(_dict(alert["transaction"])["transactionId"]) for alert in outcome.alerts]


def said(outcome: Outcome, *names: str) -> list[tuple[Json, ...]]:
    """Of each alert its transaction's id, and what it has under the names."""
    return [
        (name, *(alert[key] for key in names))
        for name, alert in zip(ids(outcome), outcome.alerts, strict=True)
    ]


def _dict(value: Json) -> dict[str, Json]:
    assert isinstance(value, dict)
    return value


class Script(Registry):
    """A registry whose events are made at no time in particular."""

    def rule(self, what: Draft, rule_id: int = 1, since: int = 0) -> bytes:
        return self.publish(rule_id, what, since, 0)

    def watch(self, *values: Json) -> bytes:
        return self.change_list("watched", values, 0)

    def most(self, value: Json, name: str = "most") -> bytes:
        return self.change_parameter(name, value, 0)


# --- form (72 to 74, 76, 81)


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
    outcome = steps(script.watch("25"), script.most("1"), script.rule(what), at(1, 0, "2"))
    assert [alert["definitionHash"] for alert in outcome.alerts] == [definition_hash(document)]


@pytest.mark.parametrize("number", range(len(wrong_references())))
def test_a_wrong_reference_makes_the_definition_invalid(number: int) -> None:
    document: Json = {**definition_document(count()), **wrong_references()[number]}
    event = json.loads(Script().rule(count()))
    event.update(definition=document, definitionHash=definition_hash(document))
    outcome = steps(json.dumps(event).encode(), at(1, 0))
    assert (outcome.skipped_rule_events, outcome.counts) == (1, {})


@pytest.mark.parametrize("number", range(len(wrong_changes(0))))
def test_a_change_that_cannot_be_read_is_skipped_and_takes_its_position(number: int) -> None:
    script = Script()
    wrong = {**wrong_changes(0)[number], "position": 4}
    script.watch("25")
    script.most("1")
    good = [json.loads(script.watch()), {**json.loads(script.most("5", "watched")), "position": 4}]
    outcome = steps(
        Script().watch("25"),
        json.dumps({**good[1], "position": 2, "value": "1"}).encode(),
        json.dumps(wrong).encode(),
        *[json.dumps({**event, "position": 4}).encode() for event in good],
        json.dumps({**json.loads(Script().rule(both())), "position": 9}).encode(),
        at(1, 0),
    )
    assert (ids(outcome), outcome.skipped_rule_events) == (["t1"], 1)


def both() -> Draft:
    """A list and a parameter of one name, which have nothing to do with each other."""
    return count(only=WATCHED, parameter="watched")


def test_lists_and_parameters_have_names_of_their_own() -> None:
    script = Script()
    outcome = steps(script.watch("25"), script.most("1", "watched"), script.rule(both()), at(1, 0))
    assert said(outcome, "limit") == [("t1", "1")]


@pytest.mark.parametrize("name", ["a", "Z9", "a-_9", "a" * 64])
def test_names(name: str) -> None:
    what = count(only={"field": "payeeId", "in": {"list": name}}, parameter=name)
    script = Script()
    events = [script.change_list(name, ["25"], 0), script.most("1", name), script.rule(what)]
    assert ids(steps(*events, at(1, 0))) == ["t1"]


def test_case_counts() -> None:
    script = Script()
    outcome = steps(script.change_list("Watched", ["25"], 0), script.rule(count(only=WATCHED)), at(1, 0))
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
    outcome = steps(script.watch(*values), script.rule(count(only=WATCHED)), at(1, 0))
    assert (ids(outcome), outcome.skipped_rule_events) == (expected, 0)


@pytest.mark.parametrize(
    ("field", "value"), [("beneficiaryId", "12"), ("paymentType", "CSH"), ("payerId", "25")]
)
def test_of_every_text_and_enum(field: str, value: str) -> None:
    only: Json = {"field": field, "in": {"list": "watched"}}
    script = Script()
    assert ids(steps(script.watch(value), script.rule(count(only=only)), at(1, 0))) == ["t1"]
    assert ids(steps(Script().watch("CRD", "z"), script.rule(count(only=only)), at(1, 0))) == []


@pytest.mark.parametrize(
    ("operator", "expected"),
    [("=", "010"), ("!=", "101"), (">=", "011"), ("<=", "110"), (">", "001"), ("<", "100")],
)
def test_a_parameter_with_every_operator_of_filters_and_limits(operator: str, expected: str) -> None:
    only: Json = {"field": "paymentAmount", "operator": operator, "value": {"parameter": "most"}}
    held = [f"t{n}" for n, answer in enumerate(expected, 1) if answer == "1"]
    records = [at(1, 0, "1.4"), at(2, 100, "1.50"), at(3, 200, "1.6")]
    script = Script()
    events = [script.most("1.5"), script.rule(count(only=only)), script.rule(total(operator), 2)]
    outcome = steps(*events, *records)
    assert [
        name for name, alert in zip(ids(outcome), outcome.alerts, strict=True) if alert["ruleId"] == 1
    ] == held
    assert [
        name for name, alert in zip(ids(outcome), outcome.alerts, strict=True) if alert["ruleId"] == 2
    ] == held


@pytest.mark.parametrize(("value", "limit"), [("1e0", "1"), ("-0", "0"), ("0.5000000", "0.5"), (1, "1")])
def test_a_parameter_is_a_decimal_and_told_plain(value: Json, limit: str) -> None:
    script = Script()
    assert said(steps(script.most(value), script.rule(total()), at(1, 0, "2")), "limit") == [("t1", limit)]


def test_a_null_is_in_no_list() -> None:
    script = Script()
    beneficiary: Json = {"field": "beneficiaryId", "in": {"list": "watched"}}
    events = [script.watch("12"), script.rule(count(only={"not": beneficiary}))]
    assert ids(steps(*events, at(1, 0), at(2, 1, beneficiaryId=None))) == ["t2"]


# --- as it stood (77, 78)


def test_a_change_counts_for_what_is_accepted_after_it() -> None:
    script = Script()
    outcome = steps(
        script.rule(count(only=WATCHED)),
        script.watch("25"),
        at(1, 0),
        script.watch(),
        at(2, 1),
        script.watch("25"),
        at(3, 2),
    )
    # t2 did not pass when it was accepted, and so is in no window later on.
    assert said(outcome, "value") == [("t1", "1"), ("t3", "2")]


def test_it_counts_for_its_own_micro_batch_and_by_position() -> None:
    script = Script()
    rule, first, second = script.rule(count(only=WATCHED)), script.watch("25"), script.watch()
    third = script.watch("25")
    assert ids(judge([batch(events=[rule, first], records=[at(1, 0)])])) == ["t1"]
    assert ids(judge([batch(events=[second, rule, first], records=[at(1, 0)])])) == []
    assert ids(judge([batch(events=[second, third, rule, first], records=[at(1, 0)])])) == ["t1"]
    late = [batch(events=[rule, second]), batch(events=[first, first], records=[at(1, 0)])]
    assert ids(judge(late)) == []


def test_version_is_not_looked_at() -> None:
    script = Script()
    first = script.watch()
    second = json.loads(script.watch("25"))
    events = [first, json.dumps({**second, "version": "none"}).encode(), script.rule(count(only=WATCHED))]
    assert ids(steps(*events, at(1, 0))) == ["t1"]


def test_a_rule_made_later_looks_at_the_lists_of_before() -> None:
    script = Script()
    outcome = steps(
        script.watch("25"),
        at(1, 0),
        script.watch("7"),
        at(2, 1),
        at(3, 2, payeeId=7),
        script.watch("25"),
        script.rule(count(only=WATCHED)),
        at(4, 3),
    )
    assert said(outcome, "value", "partial") == [("t1", "1", True), ("t3", "1", True), ("t4", "2", False)]
    assert outcome.counts == {1: Counts(evaluations=3)}


def test_it_is_so_without_catching_up_as_well() -> None:
    script = Script()
    outcome = steps(
        script.watch("25"),
        at(1, 0),
        script.watch(),
        at(2, 1),
        script.rule(count(only=WATCHED), since=T + 2000),
        script.watch("25"),
        at(3, 2),
    )
    assert said(outcome, "value") == [("t3", "2")]


def test_for_a_next_version_too() -> None:
    script = Script()
    outcome = steps(
        script.rule(count(99)),
        at(1, 0),
        script.watch("25"),
        at(2, 1),
        script.rule(count(only=WATCHED)),
        at(3, 2),
    )
    assert said(outcome, "value") == [("t3", "2")]


def test_what_did_not_pass_then_makes_nothing_late() -> None:
    script = Script()
    outcome = steps(
        script.rule(count(only=WATCHED)),
        at(1, 10),
        script.watch("25"),
        at(2, 9, accepted=10),
        at(3, 8, accepted=10),
    )
    assert said(outcome, "late") == [("t2", None), ("t3", {"newestEventTime": T + 9000})]


def test_a_filter_with_a_parameter_as_it_stood() -> None:
    script = Script()
    outcome = steps(
        script.most("10", "large"),
        at(1, 0, "10"),
        script.most("20", "large"),
        at(2, 1, "10"),
        script.rule(count(only=LARGE)),
        at(3, 2, "19.999999"),
        at(4, 3, "20"),
    )
    assert said(outcome, "value") == [("t1", "1"), ("t4", "2")]


def test_a_limit_is_that_of_the_judged_one_s_acceptance() -> None:
    script = Script()
    outcome = steps(
        script.rule(total()),
        script.most("10"),
        at(1, 0, "6"),
        at(2, 1, "6"),
        script.most("100"),
        at(3, 2, "6"),
        script.most("17.5"),
        at(4, 3, "0"),
    )
    assert said(outcome, "value", "limit") == [("t2", "12", "10"), ("t4", "18", "17.5")]


def test_in_catch_up_too() -> None:
    script = Script()
    outcome = steps(
        script.most("10"),
        at(1, 0, "6"),
        at(2, 1, "6"),
        script.most("100"),
        at(3, 2, "6"),
        script.most("1"),
        script.rule(total()),
    )
    assert said(outcome, "value", "limit") == [("t2", "12", "10")]


def test_when_judged_again_the_limit_is_that_of_the_first_time() -> None:
    script = Script()
    outcome = steps(
        script.rule(total(late_events="reevaluate")),
        script.most("10"),
        at(1, 10, "6"),
        script.most("1000"),
        at(2, 11, "6"),
        script.most("5"),
        at(3, 9, "5", accepted=11),
    )
    late: Json = {"transactionId": "t3", "eventTime": T + 9000}
    # t3 itself is not over 5, t1 with it is over its 10, t2 is not over its 1000.
    assert said(outcome, "value", "limit", "late") == [("t1", "11", "10", late)]
    assert outcome.counts[1].reevaluated == 2


def test_judging_again_looks_at_the_lists_of_each_acceptance() -> None:
    script = Script()
    outcome = steps(
        script.rule(count(2, only=WATCHED, late_events="reevaluate")),
        script.watch("25"),
        at(1, 10),
        script.watch(),
        at(2, 9, accepted=10),
        script.watch("25"),
        at(3, 8, accepted=10),
    )
    # t2 did not pass and reopened nothing, and is in no window now.
    assert said(outcome, "value") == [("t1", "2")]
    assert outcome.counts[1] == Counts(evaluations=2, late_evaluated=1, reevaluated=1)


def test_crossing_goes_by_the_limit_of_each() -> None:
    script = Script()
    outcome = steps(
        script.rule(total(firing="crossing")),
        script.most("1"),
        at(1, 0, "2"),
        at(2, 1, "2"),
        script.most("100"),
        at(3, 2, "2"),
        script.most("1"),
        at(4, 3, "2"),
    )
    assert said(outcome, "value") == [("t1", "2"), ("t4", "8")]


def test_in_the_conditions_of_a_chain() -> None:
    few, many = replace(total(), condition=WATCHED), count(1, parameter="many")
    what = chained(Branch("any", (few, many)))
    script = Script()
    outcome = steps(
        script.rule(what),
        script.watch("25"),
        script.most("10"),
        at(1, 0, "20"),
        script.most("30"),
        script.watch(),
        script.most("2", "many"),
        at(2, 1, "20"),
        script.watch("25"),
        at(3, 2, "5"),
    )
    conditions = [
        [(_dict(part)["value"], _dict(part)["limit"], _dict(part)["holds"]) for part in parts]
        for parts in (alert["conditions"] for alert in outcome.alerts)
        if isinstance(parts, list)
    ]
    assert ids(outcome) == ["t1", "t2", "t3"]
    assert conditions == [
        [("20", "10", True), ("1", None, False)],
        [("20", "30", False), ("2", "2", True)],
        [("25", "30", False), ("3", "2", True)],
    ]


# --- before its first event (79)


@pytest.mark.parametrize("operator", ["=", "!=", ">=", "<=", ">", "<"])
def test_a_limit_without_a_value_does_not_hold(operator: str) -> None:
    script = Script()
    outcome = steps(script.rule(total(operator)), script.trace(1, FAR, 0), at(1, 0), at(2, 1, "-1"))
    assert outcome.alerts == []
    told = [(t["value"], t["limit"], t["limitOperatorType"], t["holds"]) for t in outcome.traces]
    assert told == [("1", None, operator, False), ("0", None, operator, False)]
    assert outcome.counts == {1: Counts(evaluations=2)}


@pytest.mark.parametrize("operator", ["=", "!=", ">=", "<=", ">", "<"])
def test_a_comparison_with_a_parameter_without_a_value_is_false_and_its_not_true(operator: str) -> None:
    only: Json = {"field": "paymentAmount", "operator": operator, "value": {"parameter": "large"}}
    script = Script()
    outcome = steps(script.rule(count(only=only)), script.rule(count(only={"not": only}), 2), at(1, 0))
    assert [alert["ruleId"] for alert in outcome.alerts] == [2]


def test_a_list_that_nobody_made_is_empty() -> None:
    script = Script()
    outcome = steps(script.rule(count(only=WATCHED)), script.rule(count(only={"not": WATCHED}), 2), at(1, 0))
    assert [alert["ruleId"] for alert in outcome.alerts] == [2]


def test_what_came_before_its_first_event_stays_without_it() -> None:
    script = Script()
    outcome = steps(at(1, 0, "9"), script.most("1"), script.rule(total()), at(2, 1, "9"))
    assert said(outcome, "value", "limit") == [("t2", "18", "1")]


# --- what is remembered, told and counted (80, 82)


def test_a_clear_leaves_them() -> None:
    script = Script()
    outcome = steps(
        script.watch("25"),
        script.most("0"),
        script.rule(total(only=WATCHED)),
        script.control("CLEAR_STATE_ALL", 0),
        at(1, 0),
    )
    assert said(outcome, "limit") == [("t1", "0")]


def test_their_events_have_no_status_and_an_export_does_not_tell_them() -> None:
    script = Script()
    outcome = steps(
        script.watch("25"), script.rule(count()), script.most("0"), script.control("EXPORT_RULES_CURRENT", 0)
    )
    assert [status["position"] for status in outcome.statuses] == [2]
    (export,) = outcome.exports
    assert export.keys() == {"kind", "commandId", "position", "rules"}
    assert outcome.skipped_rule_events == 0


def test_duplicates_and_null_groups_by_the_values_at_their_arrival() -> None:
    script = Script()
    cash: Json = {"field": "paymentType", "in": {"list": "watched"}}
    outcome = steps(
        script.rule(count(only=cash)),
        script.watch("CSH"),
        at(1, 0),
        at(2, 0, payeeId=None),
        at(1, 0, accepted=1),
        script.watch(),
        at(1, 0, accepted=2),
        at(3, 0, payeeId=None),
    )
    assert outcome.counts == {1: Counts(evaluations=1, null_groups=1, duplicates=1)}


def test_the_fields_compared_with_names_are_fields_that_the_rule_uses() -> None:
    script = Script()
    only: Json = {"all": [LARGE, {"not": {"field": "beneficiaryId", "in": {"list": "watched"}}}]}
    outcome = steps(script.most("1", "large"), at(1, 0), script.rule(count(only=only)))
    assert [set(_dict(alert["transaction"])) for alert in outcome.alerts] == [
        {"transactionId", "eventTime", "payeeId", "beneficiaryId", "paymentAmount"}
    ]
