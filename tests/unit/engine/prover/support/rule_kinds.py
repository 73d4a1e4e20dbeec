"""Every kind of rule that the language has, as definitions that one small history trips."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
NO_FIELD = ("COUNT", "SECONDS_SINCE_PREVIOUS", "SECONDS_SINCE_FIRST")
FIELDS = {"COUNT_DISTINCT": "beneficiaryId", "CHANGED": "paymentType", "SPEED_KMH": "position"}
CASH = {"field": "paymentType", "operator": "=", "value": "CSH"}
CARD = {**CASH, "value": "CRD"}
PAYER, PAYEE = {"side": "payer"}, {"side": "payee"}
NIGHT = {"zone": "Europe/Berlin", "from": "00:00", "to": "23:59", "days": ["MON", "TUE", "WED", "THU", "FRI"]}


def measure(function: str, by: tuple[Any, ...] = ("payeeId",), seconds: int = 1800, **more: Any) -> Json:
    """What is measured: by itself what stands behind a limit."""
    field = None if function in NO_FIELD else FIELDS.get(function, "paymentAmount")
    return {
        "groupingKeyNames": [*by], "aggregatorFunctionType": function, "aggregateFieldName": field,
        "windowSeconds": seconds, **more,
    }  # fmt: skip


def when(
    function: str,
    operator: str,
    limit: Any,
    by: tuple[Any, ...] = ("payeeId",),
    seconds: int = 1800,
    **more: Any,
) -> Json:
    """A condition, or a rule."""
    return {**measure(function, by, seconds), "limitOperatorType": operator, "limit": limit, **more}


def against(baseline: Json, times: str = "1", plus: str = "0", **more: str) -> Json:
    """A limit that is measured."""
    return {"measure": baseline, "times": times, "plus": plus, **more}


def under(conditions: Json, **more: Any) -> Json:
    """A rule of conditions."""
    return {"conditions": conditions, **more}


def passing(test: Json) -> Json:
    """A rule that counts what passes the test."""
    return when("COUNT", ">=", "3", filter=test)


MANY, MUCH, DEAR = when("COUNT", ">=", "4"), when("SUM", ">", "12", seconds=1200), when("AVG", ">", "3.5")
BY_ACCOUNT = ("account",)
KINDS: dict[str, Json] = {
    "SUM": when("SUM", ">", "15"),
    "AVG": when("AVG", ">", "3"),
    "MIN": when("MIN", "<=", "2"),
    "MAX": when("MAX", ">=", "6"),
    "COUNT": when("COUNT", ">=", "4"),
    "COUNT_DISTINCT": when("COUNT_DISTINCT", ">=", "3"),
    "STDDEV": when("STDDEV", ">", "1"),
    "SECONDS_SINCE_PREVIOUS": when("SECONDS_SINCE_PREVIOUS", "<=", "120"),
    "SECONDS_SINCE_FIRST": when("SECONDS_SINCE_FIRST", ">=", "600"),
    "CHANGED": when("CHANGED", "=", "1"),
    "SPEED_KMH": when("SPEED_KMH", ">", "1"),
    "equal": when("COUNT", "=", "3", seconds=180),
    "not equal": when("COUNT", "!=", "7"),
    "less": when("SUM", "<", "12", seconds=240),
    "two fields": when("COUNT", ">=", "3", ("payeeId", "beneficiaryId")),
    "another anchor": when("COUNT", ">=", "3", ("beneficiaryId",)),
    "no grouping": when("COUNT", ">", "20", ()),
    "a field that is no anchor": when("SUM", ">", "40", ("paymentType",)),
    "steps": when("COUNT", ">=", "3", ("payeeId", {"field": "paymentAmount", "step": "3"})),
    "party": when("SUM", ">", "15", BY_ACCOUNT),
    "side of a party": when("SUM", ">", "15", BY_ACCOUNT, filter=PAYEE),
    "party and field": when("COUNT", ">=", "3", ("account", "paymentType")),
    "sides in conditions": under(
        when(
            "SUM", ">=", against(measure("SUM", BY_ACCOUNT, filter=PAYEE), "0.2"), BY_ACCOUNT, filter=PAYER
        )
    ),
    "all": under({"all": [MANY, MUCH]}),
    "any": under({"any": [DEAR, MUCH]}),
    "not": under({"all": [MANY, {"not": when("SUM", ">", "15", seconds=300)}]}),
    "not of no value": under({"all": [MANY, {"not": when("MAX", ">", "0", filter={"field": "beneficiaryId",
                              "operator": "=", "value": "nobody"})}]}),
    "weighted": under(
        {"weighted": [{"weight": "30", "of": MANY}, {"weight": {"parameter": "weight"}, "of": MUCH},
                      {"weight": "-5.5", "of": {"not": DEAR}}], "atLeast": "40"}
    ),
    "conditions by unlike groupings": under({"all": [MANY, when("SUM", ">", "5", ("payeeId", "beneficiaryId"))]}),
    "conditions with filters": under({"all": [when("COUNT", ">=", "2", filter=CASH), MUCH]}, filter={"not": CARD}),
    "times and plus": under(when("SUM", ">", against(measure("AVG", seconds=3600), "1.5", "-0.25"), seconds=1200)),
    "plusDeviations": under(
        when("MAX", ">", against(measure("AVG"), "1", "0", plusDeviations="0.5"), seconds=120)
    ),
    "against an extreme": under(when("SUM", ">", against(measure("MAX"), "2"), seconds=600)),
    "against a deviation": under(when("STDDEV", ">=", against(measure("STDDEV", seconds=3600), "0.9"))),
    "against distinct values": under(when("COUNT", ">", against(measure("COUNT_DISTINCT")))),
    "against a wider grouping": under(when("SUM", ">", against(measure("SUM", seconds=3600), "0.2"),
                                           ("payeeId", "beneficiaryId"))),
    "offsetSeconds": under(when("COUNT", ">=", "3", offsetSeconds=600)),
    "offset behind a limit": under(when("COUNT", ">=", against(measure("COUNT", seconds=600, offsetSeconds=600)),
                                        seconds=600)),
    "includeCurrent": under(when("COUNT", ">=", "3", includeCurrent=False)),
    "minimumCount": under(when("AVG", ">", "2", minimumCount=5)),
    "crossing": when("SUM", ">", "12", seconds=240, firing="crossing"),
    "cooldown": when("SUM", ">", "5", cooldownSeconds=400),
    "crossing and cooldown": when("SUM", ">", "12", seconds=240, firing="crossing", cooldownSeconds=300),
    "crossing of conditions": under({"all": [MANY, when("SUM", ">", "12", seconds=240)]}, firing="crossing"),
    "resetOnAlert": when("COUNT", ">=", "4", resetOnAlert=True),
    "reset of a sum": when("SUM", ">", "12", resetOnAlert=True),
    "reset of an extreme": when("MAX", ">=", "6", resetOnAlert=True, cooldownSeconds=60),
    "reevaluate": when("SUM", ">", "19", seconds=300, lateEvents="reevaluate"),
    "reevaluate an extreme": when("MAX", ">=", "7", seconds=180, lateEvents="reevaluate"),
    "store": when("SUM", ">", "15", lateEvents="store"),
    "bucketed": when("SUM", ">", "5", precision="bucketed(300)"),
    "bucketed conditions": under({"all": [MANY, MUCH]}, precision="bucketed(300)"),
    "limit by a parameter": when("SUM", ">", {"parameter": "much"}),
    "filter by constants": passing({"all": [{"field": "paymentAmount", "operator": ">=", "value": "2"},
                                            {"any": [CASH, {"field": "payeeId", "in": ["25", "26"]}]}]}),
    "filter by a list": passing({"field": "beneficiaryId", "in": {"list": "watched"}}),
    "filter by a parameter": passing({"field": "paymentAmount", "operator": "<", "value": {"parameter": "much"}}),
    "filter by another field": passing({"field": "beneficiaryId", "operator": "!=", "otherField": "payeeId"}),
    "startsWith": passing({"field": "beneficiaryId", "startsWith": "b"}),
    "endsWith": passing({"field": "beneficiaryId", "endsWith": "1"}),
    "contains": passing({"field": "beneficiaryId", "contains": "b"}),
    "isNull": passing({"field": "beneficiaryId", "isNull": True}),
    "multipleOf": passing({"field": "paymentAmount", "multipleOf": "2"}),
    "localTime": passing({"localTime": NIGHT}),
    "inNetwork": passing({"field": "address", "inNetwork": ["10.0.0.0/8"]}),
}  # fmt: skip
LATER = ("COUNT", "party", "all", "crossing", "cooldown", "resetOnAlert", "reevaluate", "bucketed")
"""These are also tried in the middle of the history, in force from its beginning: alerts of a catch-up."""
JUDGED_AGAIN = ("reevaluate", "reevaluate an extreme")
"""These judge others again for a late one."""
