"""Warnings: of what is legal and likely wrong, and of nothing else."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from rules_registry.domain.advice.advice import Surroundings, advise
from rules_registry.domain.advice.filter_reach import NamesNow
from rules_registry.domain.history_quota import HistoryQuota
from rules_registry.domain.rule import Rule
from tests.unit.rules_registry.support.samples import BODY, rule
from tripline_contracts import event_type_loader
from tripline_contracts.rules.rule_definition import RuleDefinition, parse

TYPE = event_type_loader.load()
NAMES = NamesNow({"empty": (), "shops": ("a",)}.get, {"high": Decimal(1000), "none": Decimal(0)}.get)
COUNT = {**BODY, "aggregatorFunctionType": "COUNT", "aggregateFieldName": None}
TYPES = {**BODY, "aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "paymentType"}
PAYEES = {**TYPES, "groupingKeyNames": ["payeeId"], "aggregateFieldName": "beneficiaryId"}
LARGEST = {**BODY, "aggregatorFunctionType": "MAX"}
BEFORE = {**COUNT, "aggregatorFunctionType": "SECONDS_SINCE_PREVIOUS"}
FIRST = {**COUNT, "aggregatorFunctionType": "SECONDS_SINCE_FIRST"}
CHANGED = {**PAYEES, "aggregatorFunctionType": "CHANGED", "limitOperatorType": "="}
LEAF = {name: value for name, value in COUNT.items() if value is not None}


def read(body: dict[str, Any]) -> RuleDefinition:
    return parse(body, TYPE)


def told(body: dict[str, Any], *others: Rule, room: HistoryQuota | None = None) -> list[tuple[str, str]]:
    beside = Surroundings(TYPE, NAMES, others, room)
    return [(warning.code, warning.field) for warning in advise(read(body), beside)]


def amount(sign: str, value: object) -> dict[str, object]:
    return {"field": "paymentAmount", "operator": sign, "value": value}


NEVER, ALWAYS = ("limit-never-reached", "limit"), ("limit-always-reached", "limit")
TWO = {**COUNT, "limit": "2"}


def weighing(at_least: object, *weights: object) -> dict[str, Any]:
    weighted = [{"weight": weight, "of": TWO} for weight in weights]
    return {"conditions": {"not": {"weighted": weighted, "atLeast": at_least}}}


SUM_NEVER, SUM_ALWAYS = (
    (code, "conditions.not.atLeast") for code in ("limit-never-reached", "limit-always-reached")
)
WEIGHTS: list[tuple[dict[str, Any], list[tuple[str, str]], str]] = [
    (weighing("60", "30", "30", "-10"), [], "just enough"),
    (weighing("60.000001", "30", "30", "-10"), [SUM_NEVER], "a millionth short"),
    (weighing("-10", "30", "-10"), [SUM_ALWAYS], "even the least is enough"),
    (weighing("-9.999999", "30", "-10"), [], "the least is not"),
    (weighing({"parameter": "high"}, "30", "30"), [SUM_NEVER], "as the parameter stands"),
    (weighing({"parameter": "unknown"}, "30"), [], "nothing is known of it"),
    (weighing("5", {"parameter": "unknown"}), [], "nor of a weight"),
]


@pytest.mark.parametrize(("body", "expected", "reason"), WEIGHTS, ids=[case[-1] for case in WEIGHTS])
def test_weights(body: dict[str, Any], expected: list[tuple[str, str]], reason: str) -> None:
    assert told(body) == expected, reason


LIMITS: list[tuple[dict[str, Any], list[tuple[str, str]], str]] = [
    ({**COUNT, "limit": "1"}, [], "more than one"),
    ({**COUNT, "limit": "0"}, [ALWAYS], "it counts itself"),
    ({**COUNT, "limitOperatorType": ">=", "limit": "1"}, [ALWAYS], "the same"),
    ({**COUNT, "limitOperatorType": "<", "limit": "1"}, [NEVER], "none of none"),
    ({**COUNT, "limitOperatorType": "<=", "limit": "1"}, [], "the first one"),
    ({**COUNT, "limitOperatorType": "=", "limit": "2.5"}, [NEVER], "no half ones"),
    ({**COUNT, "limitOperatorType": "!=", "limit": "2.5"}, [ALWAYS], "no half ones"),
    ({**COUNT, "limit": {"parameter": "none"}}, [ALWAYS], "as the parameter stands"),
    ({**COUNT, "limit": {"parameter": "unknown"}}, [], "nothing is known of it"),
    ({**TYPES, "limit": "2"}, [NEVER], "there are two"),
    ({**TYPES, "limit": "1"}, [], "both"),
    (
        {**TYPES, "limit": "1", "filter": {"field": "paymentType", "operator": "=", "value": "CSH"}},
        [NEVER],
        "one left",
    ),
    ({**PAYEES, "limitOperatorType": ">=", "limit": "1"}, [], "null is no value"),
    ({**PAYEES, "limit": "2", "filter": {"field": "beneficiaryId", "in": ["a", "b"]}}, [NEVER], "two left"),
    ({**BODY, "limit": "-5"}, [], "amounts may be negative"),
    ({**BODY, "limit": "-5", "filter": amount(">=", "0")}, [ALWAYS], "a sum of what is not"),
    ({**BODY, "limit": "100", "filter": amount(">", "100")}, [ALWAYS], "one alone is above"),
    ({**BODY, "limit": "100", "filter": amount(">=", "100")}, [], "one alone is not"),
    ({**BODY, "limit": "100", "filter": amount("<", "50")}, [], "they may add up"),
    ({**LARGEST, "limit": "100", "filter": amount("<=", "100")}, [NEVER], "the filter has an end"),
    ({**LARGEST, "limit": "100", "filter": amount("<=", {"parameter": "high"})}, [], "up to 1000"),
    ({**LARGEST, "limit": "1000", "filter": amount("<=", {"parameter": "high"})}, [NEVER], "not above it"),
    (
        {**LARGEST, "limit": "5", "filter": {"any": [amount("<", "1"), amount("=", "9")]}},
        [],
        "one way leads there",
    ),
    (
        {**LARGEST, "limit": "9", "filter": {"any": [amount("<", "1"), amount("=", "9")]}},
        [NEVER],
        "none does",
    ),
    (
        {**LARGEST, "limit": "5", "filter": {"field": "paymentAmount", "in": ["1", "5"]}},
        [NEVER],
        "five at most",
    ),
    ({**BEFORE, "limit": "1200"}, [NEVER], "as far back as the window"),
    ({**BEFORE, "limit": "1199.999"}, [], "just within"),
    ({**BEFORE, "limit": "0", "limitOperatorType": ">="}, [], "of the first of a group nothing is known"),
    ({**FIRST, "limit": "0", "limitOperatorType": ">="}, [ALWAYS], "it is itself in the window"),
    ({**CHANGED, "limit": "1"}, [], "one or none"),
    (
        {**LARGEST, "aggregatorFunctionType": "STDDEV", "limitOperatorType": "<", "limit": "0"},
        [NEVER],
        "never below 0",
    ),
    (
        {**LARGEST, "aggregatorFunctionType": "STDDEV", "limitOperatorType": ">=", "limit": "0"},
        [],
        "of one nothing",
    ),
    ({**CHANGED, "limit": "0.5"}, [NEVER], "nothing between"),
    ({**CHANGED, "limit": "0.5", "limitOperatorType": "!="}, [], "of the first of a group nothing is known"),
    ({**CHANGED, "limit": "1", "groupingKeyNames": ["beneficiaryId"]}, [NEVER], "a group has one"),
]


@pytest.mark.parametrize(("body", "expected", "why"), LIMITS, ids=[case[-1] for case in LIMITS])
def test_limits(body: dict[str, Any], expected: list[tuple[str, str]], why: str) -> None:
    assert told(body) == expected, why


@pytest.mark.parametrize("sign", ["=", "!="])
def test_equality_on_an_average(sign: str) -> None:
    average = {**BODY, "aggregatorFunctionType": "AVG", "limitOperatorType": sign}
    assert told(average) == [("equality-on-average", "limitOperatorType")]


def test_a_filter_that_excludes_everything_is_all_that_is_said_of_it() -> None:
    nothing = {"all": [amount(">", "5"), amount("<", "5")]}
    assert told({**COUNT, "limit": "0", "filter": nothing}) == [("filter-excludes-everything", "filter")]
    empty = {"field": "payeeId", "in": {"list": "empty"}}
    assert told({**COUNT, "filter": empty}) == [("filter-excludes-everything", "filter")]
    assert told({**COUNT, "filter": {"not": empty}}) == []


def test_conditions_are_told_by_their_paths_and_may_be_empty() -> None:
    zero = {**LEAF, "limit": "0"}
    assert told({"conditions": {"all": [zero, {**LEAF, "limit": "3"}]}}) == []
    below = {**LEAF, "limitOperatorType": "<", "limit": "0"}
    assert told({"conditions": {"any": [LEAF, {"all": [{"not": below}, LEAF]}]}}) == [
        ("limit-never-reached", "conditions.any[1].all[0].not.limit")
    ]
    apart = {**LEAF, "filter": amount("<", "5")}
    assert told({"conditions": {"all": [apart, LEAF]}, "filter": amount(">", "9")}) == [
        ("filter-excludes-everything", "conditions.all[0].filter")
    ]


def test_a_rule_that_says_the_same() -> None:
    assert told(BODY, rule(definition=read(BODY))) == [("same-as-another", "")]
    assert told(BODY, rule(definition=read(BODY), state="PAUSED")) == []
    assert told(BODY, rule(definition=read({**BODY, "windowSeconds": 60}))) == []


SHADOWS: list[tuple[dict[str, Any], dict[str, Any], bool, str]] = [
    ({"limit": "2000"}, {}, True, "the other's limit is lower"),
    ({"limit": "500"}, {}, False, "the other's limit is higher"),
    ({"limit": "500", "limitOperatorType": "<"}, {"limitOperatorType": "<"}, True, "lower is harder there"),
    ({"limit": "2000"}, {"limitOperatorType": ">="}, False, "not compared alike"),
    ({"limit": "2000"}, {"groupingKeyNames": ["payeeId"]}, False, "not of the same groups"),
    ({"limit": "2000", "firing": "crossing"}, {"firing": "crossing"}, False, "it may have fired before"),
    ({"limit": "2000", "cooldownSeconds": 9}, {"cooldownSeconds": 9}, False, "it may be silent"),
    ({"limit": "2000"}, {"windowSeconds": 2400}, False, "a longer sum may be lower"),
]


@pytest.mark.parametrize(("new", "old", "shadowed", "why"), SHADOWS, ids=[case[-1] for case in SHADOWS])
def test_a_rule_that_fires_wherever_this_one_does(
    new: dict[str, Any], old: dict[str, Any], shadowed: bool, why: str
) -> None:
    expected = [("shadowed-by-another", "limit")] if shadowed else []
    assert told({**BODY, **new}, rule(definition=read({**BODY, **old}))) == expected, why


@pytest.mark.parametrize(
    ("function", "sign", "seconds", "shadowed"),
    [
        ("COUNT", ">", 2400, True),
        ("COUNT", ">", 600, False),
        ("COUNT", "<", 600, True),
        ("COUNT", "<", 2400, False),
        ("MAX", ">=", 2400, True),
        ("MIN", "<", 2400, True),
        ("MIN", "<", 600, False),
        ("MIN", ">", 600, True),
        ("SECONDS_SINCE_FIRST", ">", 2400, True),
        ("SECONDS_SINCE_FIRST", "<", 2400, False),
        ("SECONDS_SINCE_PREVIOUS", "<", 2400, True),
        ("SECONDS_SINCE_PREVIOUS", ">", 2400, True),
        ("SECONDS_SINCE_PREVIOUS", "<", 600, False),
    ],
)
def test_windows_that_only_help(function: str, sign: str, seconds: int, shadowed: bool) -> None:
    body = {**BODY, "aggregatorFunctionType": function, "limitOperatorType": sign, "limit": "7"}
    if function not in ("MIN", "MAX"):
        body["aggregateFieldName"] = None
    expected = [("shadowed-by-another", "limit")] if shadowed else []
    assert told(body, rule(definition=read({**body, "windowSeconds": seconds}))) == expected


def test_a_rule_that_takes_much_of_the_history() -> None:
    room = HistoryQuota(most=1200 * 10, rate=10)
    assert told(BODY, room=room) == [("takes-much-history", "windowSeconds")]
    assert told({**BODY, "windowSeconds": 500}, room=room) == []
    assert told({**BODY, "precision": "bucketed(60)"}, room=room) == []


def test_a_message_says_what_the_aggregate_can_be() -> None:
    (warning,) = advise(read({**TYPES, "limit": "2"}), Surroundings(TYPE, NAMES, ()))
    assert (
        warning.message == "never holds: a count of different values, at least 1 and at most 2, is never > 2"
    )
