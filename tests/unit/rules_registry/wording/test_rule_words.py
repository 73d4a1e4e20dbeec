"""Rules in words."""

from __future__ import annotations

from typing import Any

import pytest

from rules_registry.domain.wording.rule_words import describe
from rules_registry.domain.wording.spans import moment, span, span_change
from tests.unit.rules_registry.support.samples import BODY
from tripline_contracts import event_type_loader
from tripline_contracts.rules.rule_definition import parse

TRANSACTION = event_type_loader.load()
CASH = {"field": "paymentType", "operator": "=", "value": "CSH"}
SMALL = {"field": "paymentAmount", "operator": "<=", "value": "5.00"}
COUNT = {**BODY, "aggregatorFunctionType": "COUNT", "aggregateFieldName": None, "limit": 3}
DISTINCT = {**COUNT, "aggregatorFunctionType": "COUNT_DISTINCT", "aggregateFieldName": "paymentType"}
USUAL: dict[str, Any] = {
    "measure": {
        "groupingKeyNames": ["payeeId"],
        "aggregatorFunctionType": "AVG",
        "aggregateFieldName": "paymentAmount",
        "windowSeconds": 2_592_000,
        "offsetSeconds": 1200,
        "minimumCount": 5,
        "filter": CASH,
    },
    "times": "3",
    "plus": {"parameter": "margin"},
}
SAID = "SUM of paymentAmount over 20 min per beneficiaryId and payeeId > 1000.01"

RULES: list[tuple[dict[str, Any], str, str]] = [
    (BODY, SAID, "plain"),
    ({**BODY, "filter": CASH}, f"{SAID}, where paymentType = CSH", "one comparison"),
    ({**BODY, "filter": {"all": [CASH, {"any": [SMALL, {"not": CASH}]}]}},
     f"{SAID}, where paymentType = CSH and (paymentAmount <= 5 or not (paymentType = CSH))", "a filter tree"),
    ({**BODY, "filter": {"field": "payeeId", "in": ["7", "a b", "or", "x,y"]}},
     f'{SAID}, where payeeId in (7, "a b", "or", "x,y")', "texts that are no word are in quotes"),
    ({**BODY, "filter": {"field": "payeeId", "in": {"list": "watched"}}},
     f"{SAID}, where payeeId in list watched", "a named list"),
    ({**BODY, "filter": {"field": "eventTime", "operator": ">", "value": 1_700_000_000_000}},
     f"{SAID}, where eventTime > 2023-11-14T22:13:20Z", "a time"),
    ({**BODY, "filter": {"any": [{"field": "payeeId", "operator": "!=", "otherField": "beneficiaryId"},
                                 {"field": "payeeId", "isNull": True}]}},
     f"{SAID}, where payeeId != field beneficiaryId or payeeId is null", "two fields, and null"),
    ({**BODY, "filter": {"all": [{"field": "payeeId", "startsWith": "4 2"}, {"field": "payeeId", "endsWith": "7"},
                                 {"field": "payeeId", "contains": "field"},
                                 {"field": "paymentAmount", "multipleOf": "100.0"}]}},
     (f'{SAID}, where payeeId starts with "4 2" and payeeId ends with 7 and payeeId contains "field" '
      "and paymentAmount is a multiple of 100"), "parts of a text, round amounts"),
    ({**BODY, "filter": {"not": {"localTime": {"zone": "Europe/Berlin", "from": "22:00", "to": "06:00"}}}},
     f"{SAID}, where not (local time in Europe/Berlin from 22:00 to 06:00)", "nights"),
    ({**BODY, "filter": {"localTime": {"zone": "UTC", "from": "00:00", "to": "00:00", "days": ["SUN", "SAT"]}}},
     f"{SAID}, where local time in UTC from 00:00 to 00:00 on SAT, SUN", "weekends"),
    ({**COUNT, "groupingKeyNames": [], "limit": {"parameter": "many"}, "windowSeconds": 90},
     "COUNT over 90 s over all > parameter many", "one group, a parameter"),
    ({**DISTINCT, "firing": "crossing", "cooldownSeconds": 3600, "lateEvents": "store", "resetOnAlert": True},
     ("COUNT_DISTINCT of paymentType over 20 min per beneficiaryId and payeeId > 3; alerts on crossing; "
     "late ones only count; starts afresh after an alert; silent for 1 h after an alert"), "options"),
    ({**BODY, "precision": "bucketed(60)"}, f"{SAID}; windows in buckets of 1 min", "buckets"),
    ({"conditions": {"all": [COUNT, {"any": [{**BODY, "filter": CASH}, {"not": COUNT}]}]}, "filter": SMALL},
     ("(COUNT over 20 min per beneficiaryId and payeeId > 3) and "
     f"(({SAID}, where paymentType = CSH) or not (COUNT over 20 min per beneficiaryId and payeeId > 3)), "
     "where paymentAmount <= 5"), "conditions"),
    ({"conditions": {"not": {"weighted": [{"weight": 30, "of": BODY},
                                          {"weight": {"parameter": "w"}, "of": {"not": COUNT}}], "atLeast": "0.5"}}},
     (f"not (weights of at least 0.5: 30 for ({SAID}), parameter w for not (COUNT over 20 min per beneficiaryId and "
      "payeeId > 3))"), "weights"),
    ({**COUNT, "groupingKeyNames": ["payeeId", {"field": "paymentAmount", "step": "0.5"}]},
     "COUNT over 20 min per payeeId and paymentAmount in steps of 0.5 > 3", "steps"),
    ({"conditions": {**BODY, "limit": USUAL}},
     ("SUM of paymentAmount over 20 min per beneficiaryId and payeeId > 3 × (AVG of paymentAmount over 30 days before "
      "the last 20 min with at least 5 per payeeId, where paymentType = CSH) + parameter margin"), "a measured limit"),
    ({"conditions": {**BODY, "limit": {"measure": {**USUAL["measure"], "minimumCount": 0, "filter": None}}}},
     ("SUM of paymentAmount over 20 min per beneficiaryId and payeeId > (AVG of paymentAmount over 30 days before "
      "the last 20 min per payeeId)"), "a measured limit, and nothing more"),
    ({"conditions": {**COUNT, "includeCurrent": False}},
     "COUNT over 20 min without the event itself per beneficiaryId and payeeId > 3", "without itself"),
    ({**COUNT, "groupingKeyNames": ["account"], "filter": {"not": {"side": "payer"}}},
     "COUNT over 20 min per account > 3, where not (side is payer)", "a party"),
    ({"conditions": {"any": [COUNT]}}, "COUNT over 20 min per beneficiaryId and payeeId > 3", "one condition"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "words", "reason"), RULES, ids=[case[-1] for case in RULES])
def test_in_words(body: dict[str, Any], words: str, reason: str) -> None:
    assert describe(parse(body, TRANSACTION).to_json()) == words, reason


def test_of_another_event_type() -> None:
    cards = event_type_loader.load("card-authorisation")
    body = {
        **BODY,
        "groupingKeyNames": ["cardId"],
        "aggregateFieldName": "amount",
        "windowSeconds": 2_592_000,
    }
    assert describe(parse(body, cards).to_json()) == "SUM of amount over 30 days per cardId > 1000.01"


SPANS = [(1, "1 s"), (90, "90 s"), (1200, "20 min"), (3600, "1 h"), (5400, "90 min"), (21_600, "6 h"),
         (86_400, "1 day"), (2_592_000, "30 days"), (34_560_000, "400 days"), (3601, "1 h 1 s"),
         (100_000, "1 day 3 h 46 min 40 s")]  # fmt: skip


@pytest.mark.parametrize(("seconds", "words"), SPANS)
def test_spans(seconds: int, words: str) -> None:
    assert span(seconds) == words


def test_a_unit_is_said_once_where_it_is_the_same() -> None:
    assert span_change(1200, 1800) == "20 → 30 min"
    assert span_change(86_400, 172_800) == "1 day → 2 days"
    assert span_change(90, 1200) == "90 s → 20 min"
    assert span_change(3601, 1) == "1 h 1 s → 1 s"


def test_moments_to_the_end_of_time() -> None:
    assert moment(253_402_300_799_999) == "9999-12-31T23:59:59.999Z"
    assert moment(0) == "1970-01-01T00:00:00Z"
