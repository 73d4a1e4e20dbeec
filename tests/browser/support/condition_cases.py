"""Conditions for the console's functions, and what these make of them."""

from __future__ import annotations

from typing import Any

SUM = {
    "aggregatorFunctionType": "SUM",
    "aggregateFieldName": "paymentAmount",
    "groupingKeyNames": ["beneficiaryId", "payeeId"],
    "limitOperatorType": ">=",
    "limit": "1234567.5",
    "windowSeconds": 5400,
}
SUM_IN_WORDS = "Sum of amount per beneficiary and payer within 90 minutes ≥ 1,234,567.5"
RELATIVE: dict[str, Any] = {
    **SUM,
    "limit": {
        "measure": {
            "groupingKeyNames": ["payeeId"],
            "aggregatorFunctionType": "AVG",
            "aggregateFieldName": "paymentAmount",
            "windowSeconds": 2592000,
            "offsetSeconds": 5400,
            "minimumCount": 5,
        },
        "times": "3",
        "plus": {"parameter": "margin"},
    },
    "includeCurrent": False,
}
RELATIVE_IN_WORDS = (
    "Sum of amount per beneficiary and payer within 90 minutes, the payment itself left out ≥ 3 × (average of amount"
    " per payer within the 30 days before, if there are at least 5), plus parameter margin"
)
USUAL = {
    "aggregatorFunctionType": "AVG",
    "aggregateFieldName": "paymentAmount",
    "windowSeconds": 2592000,
    "offsetSeconds": 86400,
    "minimumCount": 5,
}
AGAINST_ITS_USUAL = {
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "SUM",
    "aggregateFieldName": "paymentAmount",
    "windowSeconds": 86400,
    "limitOperatorType": ">",
    "limit": {"measure": USUAL, "times": "3", "plus": "0"},
}
AGAINST_ITS_USUAL_IN_WORDS = (
    "Sum of amount per payer within 1 day"
    " > 3 × its average within the 30 days before, if there are at least 5"
)


def against(**changed: Any) -> dict[str, Any]:
    """The same with another measure behind its limit."""
    return {**AGAINST_ITS_USUAL, "limit": {"measure": {**USUAL, **changed}}}


NAMED = {
    "all": [
        {"field": "payeeId", "in": {"list": "watched"}},
        {"field": "paymentAmount", "operator": ">=", "value": {"parameter": "low"}},
    ]
}
FILTER = {
    "any": [
        {"field": "paymentType", "operator": "=", "value": "CRD"},
        {"not": {"field": "payeeId", "in": ["1", "2"]}},
    ]
}
DIFFERENT = {
    "aggregatorFunctionType": "COUNT_DISTINCT",
    "aggregateFieldName": "payeeId",
    "groupingKeyNames": ["beneficiaryId"],
    "limitOperatorType": ">",
    "limit": "20",
    "windowSeconds": 3600,
}


CHAIN = {
    "all": [
        {**SUM, "groupingKeyNames": ["payeeId"], "limit": "5000", "limitOperatorType": ">"},
        {"any": [{**DIFFERENT, "filter": FILTER}, {"not": {**DIFFERENT, "limit": {"parameter": "usual"}}}]},
    ]
}
CHAIN_IN_WORDS = (
    "ll of: sum of amount per payer within 90 minutes > 5,000; (any of: number of different payers per beneficiary "
    "within 1 hour > 20, only where payment type = CRD or not payer is one of 1, 2; not number of different payers "
    "per beneficiary within 1 hour > parameter usual)"
)
WEIGHED = {
    "weighted": [{"weight": "30", "of": SUM}, {"weight": {"parameter": "w"}, "of": {"not": SUM}}],
    "atLeast": "5",
}
WEIGHED_IN_WORDS = "eights that add up to at least 5: 30 for s{0}; parameter w for not s{0}".format(
    SUM_IN_WORDS[1:]
)
AS_GROUP: list[tuple[str, list[Any], Any]] = [
    ("asGroup", [SUM], {"all": [SUM]}),
    ("asGroup", [{"not": CHAIN}], {"all": [{"not": CHAIN}]}),
    ("asGroup", [CHAIN], CHAIN),
    ("asGroup", [WEIGHED], WEIGHED),
    ("asGroup", [RELATIVE], {"all": [RELATIVE]}),
    ("asGroup", [{**SUM, "offsetSeconds": 60}], {"all": [{**SUM, "offsetSeconds": 60}]}),
    ("asGroup", [{**SUM, "offsetSeconds": "60"}], None),
    ("asGroup", [{**SUM, "limit": {**RELATIVE["limit"], "perhaps": "2"}}], None),
    ("asGroup", [against(limit="5")], None),
    ("asGroup", [{"atLeast": "5", "weighted": WEIGHED["weighted"]}], WEIGHED),
    ("asGroup", [{"any": [WEIGHED, SUM]}], {"any": [WEIGHED, SUM]}),
    ("asGroup", [{"not": {"not": SUM}}], None),
    ("asGroup", [{"all": []}], None),
    ("asGroup", [{"all": [SUM], "any": [SUM]}], None),
    ("asGroup", [{**WEIGHED, "atLeast": {"list": "w"}}], None),
    ("asGroup", [{"weighted": [{"weight": "1"}], "atLeast": "1"}], None),
    ("asGroup", [{"weighted": [SUM], "atLeast": "1"}], None),
    ("asGroup", [{"any": [{"all": [{"any": [{"all": [{"any": [{"all": [SUM]}]}]}]}]}]}], None),
    ("asGroup", [None], None),
]
MEASURED_LIMITS: list[tuple[str, list[Any], Any]] = [
    ("inWords", [{"conditions": AGAINST_ITS_USUAL}], AGAINST_ITS_USUAL_IN_WORDS),
    ("inWords", [{"conditions": against()}], AGAINST_ITS_USUAL_IN_WORDS.replace("3 × ", "")),
    (
        "inWords",
        [{"conditions": against(aggregatorFunctionType="SUM", offsetSeconds=3600, minimumCount=0)}],
        "Sum of amount per payer within 1 day > the same within 30 days before the last 1 hour",
    ),
    (
        "inWords",
        [{"conditions": against(groupingKeyNames=[], includeCurrent=False, offsetSeconds=0)}],
        (
            "Sum of amount per payer within 1 day > (average of amount over all payments within 30 days, the "
            "payment itself left out, if there are at least 5)"
        ),
    ),
    # What is measured of some payments only is not its own.
    (
        "inWords",
        [{"conditions": against(filter=FILTER["any"][0])}],
        (
            "Sum of amount per payer within 1 day > (average of amount per payer within the 30 days before, if "
            "there are at least 5, only where payment type = CRD)"
        ),
    ),
]
SHAPES: list[tuple[str, list[Any], Any]] = [
    ("shapeOf", [{**SUM, "filter": NAMED}], "one"),
    ("shapeOf", [{"conditions": {"not": {"not": SUM}}, "filter": NAMED}], "several"),
    # What has no place in a form is written as JSON, whole.
    ("shapeOf", [{**SUM, "groupingKeyNames": [{"perhaps": "1"}]}], None),
    ("shapeOf", [{**SUM, "perhaps": "1"}], None),
    ("shapeOf", [{**SUM, "offsetSeconds": 60}], None),
    ("shapeOf", [{"conditions": SUM, "perhaps": "1"}], None),
]
