"""The console's functions that turn values into words and pictures, called as the page calls them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.browser.conftest import OpenWindow
from tests.browser.support.condition_cases import (
    AS_GROUP,
    CHAIN,
    CHAIN_IN_WORDS,
    DIFFERENT,
    FILTER,
    MEASURED_LIMITS,
    NAMED,
    RELATIVE,
    RELATIVE_IN_WORDS,
    SHAPES,
    SUM,
    SUM_IN_WORDS,
    WEIGHED,
    WEIGHED_IN_WORDS,
)
from tests.browser.windows import Window

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

JUDGED: list[dict[str, Any]] = [
    {"value": "5100.5", "operator": ">", "limit": "5000", "windowSeconds": 60, "holds": True},
    {"value": None, "operator": ">=", "limit": None, "windowSeconds": 90, "holds": False},
]


def alert_of(*values: str | None) -> dict[str, Any]:
    """What the console looks at of an alert with these contributors."""
    listed = [{"value": value} for value in values]
    return {"value": str(len(set(values))), "contributors": {"count": len(values), "transactions": listed}}


RESTED: dict[str, Any] = {
    "transaction": {"transactionId": "t2", "eventTime": 2000},
    "voided": [
        {"transactionId": "t2", "eventTime": 2000, "commandId": "a", "position": 1},
        {"transactionId": "t1", "eventTime": 1000, "commandId": "b", "position": 2},
        {"transactionId": "t2", "eventTime": 2000, "commandId": "c", "position": 3},
    ],
}

ENDS = [{"source": source, "target": target} for source, target in (("25", "12"), ("7", "25"), ("7", "7"))]

CASES: dict[str, list[tuple[str, list[Any], Any]]] = {
    "core/format.js": [
        ("decimal", ["1234567.5"], "1,234,567.5"),
        ("decimal", ["-1000"], "−1,000"),
        # Beyond what a float holds: the digits are those of the text.
        ("decimal", ["123456789012345678.123456"], "123,456,789,012,345,678.123456"),
        ("span", [5400], "90 minutes"),
        ("span", [86400], "1 day"),
        ("span", [61], "61 seconds"),
        ("inUnits", [2592000], [30, 86400]),
        ("milliseconds", [999], "999 ms"),
        ("milliseconds", [1500], "1.5 s"),
        ("ago", [0, 99_000], "99 s ago"),
        ("ago", [5_000, 0], "ahead of this clock"),
        ("fieldName", ["payeeId"], "payer"),
        ("fieldNames", ["beneficiaryId"], "beneficiaries"),
        ("fieldNames", ["merchantId"], "merchants"),
        ("figure", [4.25], "4.3"),
        ("figure", [12345.6], "12,346"),
    ],
    "words/definition.js": [
        ("inWords", [SUM], SUM_IN_WORDS),
        (
            "inWords",
            [{**SUM, "groupingKeyNames": [], "filter": FILTER, "firing": "crossing", "resetOnAlert": True}],
            (
                "Sum of amount over all payments within 90 minutes ≥ 1,234,567.5, only where payment type = CRD or "
                "not payer is one of 1, 2 (fires when the limit is crossed; starts afresh after an alert)"
            ),
        ),
        (
            "inWords",
            [{**SUM, "limit": {"parameter": "high"}, "filter": NAMED}],
            (
                "Sum of amount per beneficiary and payer within 90 minutes ≥ parameter high, only where payer is "
                "in the list watched and amount ≥ parameter low"
            ),
        ),
        (
            "inWords",
            [{**DIFFERENT, "cooldownSeconds": 600}],
            "Number of different payers per beneficiary within 1 hour > 20 (silent for 10 minutes after an alert)",
        ),
        (
            "inWords",
            [{**DIFFERENT, "lateEvents": "reevaluate"}],
            (
                "Number of different payers per beneficiary within 1 hour > 20 (late payments are judged, and what "
                "they came before is judged again)"
            ),
        ),
        (
            "inWords",
            [{**DIFFERENT, "aggregatorFunctionType": "SPEED_KMH"}],
            "Speed in km/h from the last payer per beneficiary within 1 hour > 20",
        ),
        ("inWords", [{"conditions": WEIGHED}], f"W{WEIGHED_IN_WORDS}"),
        ("inWords", [{"conditions": RELATIVE}], RELATIVE_IN_WORDS),
        *MEASURED_LIMITS,
        ("inWords", [{"conditions": {"not": WEIGHED}}], f"Not (w{WEIGHED_IN_WORDS})"),
        (
            "inWords",
            [{"conditions": CHAIN, "filter": FILTER, "firing": "crossing"}],
            (
                f"A{CHAIN_IN_WORDS}, only where payment type = CRD or not payer is one of 1, 2 "
                "(fires when the limit is crossed)"
            ),
        ),
        (
            "inWords",
            [{**SUM, "precision": "bucketed(3600)", "firing": "crossing"}],
            f"{SUM_IN_WORDS} (windows in buckets of 1 hour; fires when the limit is crossed)",
        ),
        ("inWords", [{**SUM, "precision": "exact"}], SUM_IN_WORDS),
        (
            "differences",
            [
                {"definition": {"precision": "exact"}},
                {"definition": {"precision": "bucketed(90)"}},
            ],
            [{"title": "Precision", "before": "exact", "after": "in buckets of 90 seconds"}],
        ),
        (
            "differences",
            [
                {"definition": {"conditions": DIFFERENT}},
                {"definition": {"conditions": CHAIN}},
            ],
            [
                {
                    "title": "Conditions",
                    "before": "number of different payers per beneficiary within 1 hour > 20",
                    "after": f"a{CHAIN_IN_WORDS}",
                }
            ],
        ),
        (
            "differences",
            [
                {"definition": {**DIFFERENT, "cooldownSeconds": 600, "lateEvents": "evaluate"}},
                {
                    "definition": {
                        **DIFFERENT,
                        "aggregateFieldName": "paymentType",
                        "lateEvents": "reevaluate",
                    }
                },
            ],
            [
                {"title": "Of field", "before": "payer", "after": "payment type"},
                {"title": "Silent after an alert", "before": "10 minutes", "after": "none"},
                {
                    "title": "Late payments",
                    "before": "are judged like any other",
                    "after": "are judged, and what they came before is judged again",
                },
            ],
        ),
    ],
    "conditions/condition_form.js": [
        ("fitsForm", [SUM], True),
        ("fitsForm", [{**DIFFERENT, "limit": {"parameter": "usual"}, "filter": NAMED}], True),
        ("fitsForm", [{**SUM, "aggregatorFunctionType": "COUNT", "aggregateFieldName": None}], True),
        ("fitsForm", [{**SUM, "aggregateFieldName": "payeeId"}], False),
        ("fitsForm", [{**SUM, "limit": {"list": "usual"}}], False),
        ("fitsForm", [{**SUM, "filter": "none"}], False),
        ("fitsForm", [{**SUM, "firing": "every"}], False),
        ("fitsForm", [{"not": SUM}], False),
        ("fitsForm", [None], False),
    ],
    "conditions/condition_group.js": AS_GROUP,
    "rules/body_form.js": SHAPES,
    "words/verdict.js": [
        ("cameTo", [JUDGED[0]], ["5,100.5", " > 5,000"]),
        ("cameTo", [JUDGED[1]], ["–", " ≥ –"]),
        ("cameTo", [{"value": "3", "limitOperatorType": "!=", "limit": "4"}], ["3", " ≠ 4"]),
        ("cameTo", [{"value": None, "conditions": JUDGED}], ["1 of 2", " conditions"]),
        ("cameTo", [{"value": None, "conditions": JUDGED[:1]}], ["1 of 1", " condition"]),
        ("widest", [{"ruleId": 1, "conditions": JUDGED}], {"ruleId": 1, **JUDGED[1]}),
        ("widest", [{"ruleId": 1, "value": "3"}], {"ruleId": 1, "value": "3"}),
    ],
    "words/measure.js": [
        ("functionOf", [alert_of("1", "2"), DIFFERENT], "COUNT_DISTINCT"),
        ("functionOf", [alert_of("1", "Ann"), None], "COUNT_DISTINCT"),
        ("functionOf", [alert_of(), None], "COUNT_DISTINCT"),
        ("functionOf", [{**alert_of(), "precision": {"bucketSeconds": 60}}, None], None),
        ("functionOf", [{**alert_of(None, None), "value": "2"}, None], "COUNT"),
        ("functionOf", [{**alert_of(None, None), "value": "60.5"}, None], None),
        # Amounts or ids of digits: nobody knows.
        ("functionOf", [alert_of("1000", "2"), None], None),
        ("shownValue", ["1000", "SUM"], "1,000"),
        ("shownValue", ["1000", "COUNT_DISTINCT"], "1000"),
        ("shownValue", ["1000", None], "1000"),
        ("shownValue", [None, "COUNT"], "–"),
        # The newest comes first in an alert, the oldest in the drawing.
        ("steps", [alert_of("7", "25", "7", "7"), "COUNT_DISTINCT"], [1, 0, 1, 0]),
        ("steps", [alert_of("3", "2"), "SUM"], [2, 3]),
        ("steps", [alert_of("3", "2"), "MAX"], None),
        ("steps", [alert_of(None, None), "SECONDS_SINCE_PREVIOUS"], None),
        ("steps", [alert_of("7", None), "CHANGED"], None),
        ("steps", [alert_of("1,2", None), "SPEED_KMH"], None),
        ("steps", [{**alert_of("3", "2"), "value": "5"}, None], [2, 3]),
        ("steps", [{**alert_of("3", "2"), "value": "2.5"}, None], None),
    ],
    "words/precision.js": [
        ("bucketSeconds", ["bucketed(60)"], 60),
        ("bucketSeconds", ["exact"], None),
        ("bucketSeconds", [None], None),
        ("bounds", [{"atLeast": "900", "atMost": "1200"}], "between 900 and 1,200 for the exact window"),
        ("bounds", [{"atLeast": "900", "atMost": "900"}], "900 for the exact window too"),
        ("bounds", [{"atLeast": None, "atMost": "900.5"}], "at most 900.5 for the exact window"),
        ("bounds", [{"atLeast": "-900", "atMost": None}], "at least −900 for the exact window"),
        ("bounds", [{"atLeast": None, "atMost": None}], "not bounded for the exact window"),
    ],
    "words/void_marks.js": [
        ("isVoided", [RESTED, {"transactionId": "t1", "eventTime": 1000}], True),
        ("isVoided", [RESTED, {"transactionId": "t1", "eventTime": 1001}], False),
        ("isVoided", [{}, {"transactionId": "t1", "eventTime": 1000}], False),
        (
            "voidedSentences",
            [RESTED],
            [
                "The payment that tripped it, t2, was voided.",
                "t1 of 1 Jan 1970, 00:00:01, which counted for it, was voided.",
            ],
        ),
        ("voidedSentences", [{"transaction": RESTED["transaction"]}], []),
    ],
    "cases/case_graph.js": [
        ("onBothSides", [{"party": "account", "edges": ENDS}], ["25", "7"]),
        ("onBothSides", [{"party": None, "edges": ENDS}], []),
        ("onBothSides", [{"party": "account", "edges": ENDS[:1]}], []),
    ],
    "controls/void_form.js": [
        ("asTime", ["1763641200000"], 1763641200000),
        ("asTime", [" 20 Nov 2025, 12:20:00 "], 1763641200000),
        ("asTime", ["2025-11-20T12:20:00.001Z"], 1763641200001),
        ("asTime", ["soon"], None),
        ("asTime", [""], None),
        ("asTime", ["-5"], None),
    ],
    "core/chart.js": [
        ("roundAbove", [0], 1),
        ("roundAbove", [3], 5),
        ("roundAbove", [180], 200),
        ("roundAbove", [0.07], 0.1),
    ],
    "core/stream.js": [
        (
            "readMessages",
            ['id: 5-1\nevent: AlertRaised\ndata: {"a":1}\n\n: alive\nid: 7-0\n\nid: 8-1\neve'],
            {
                "messages": [
                    {"event": "AlertRaised", "id": "5-1", "data": ['{"a":1}']},
                    {"event": None, "id": "7-0", "data": []},
                ],
                "rest": "id: 8-1\neve",
            },
        ),
    ],
}


@pytest.fixture
def window(open_window: OpenWindow) -> Window:
    opened = open_window("viewer", timezone_id="UTC")
    opened.go("/controls")
    opened.shows("Controls")
    return opened


@pytest.mark.parametrize("module", CASES)
def test_values_become_words(window: Window, module: str) -> None:
    call = "([module, name, args]) => import(`/console/${module}`).then((found) => found[name](...args))"
    for name, arguments, expected in CASES[module]:
        given = window.page.evaluate(call, [module, name, arguments])
        # Floats like 0.1 come back a little off.
        wanted = pytest.approx(expected) if isinstance(expected, float) else expected
        assert json.loads(json.dumps(given)) == wanted, (name, arguments)
