"""Rules, each with the SQL that says the same of payments in order, no two at one time.

A query tells, of each payment that the rule fires for, its number and the values of its conditions; of a rule that
weighs them the sums too. `p` has `n, t (ms), payer, beneficiary, amount, kind`.
"""

from __future__ import annotations

from tests.integration.judged_by_sql.judged_rule import (
    DAY,
    HOUR,
    MINUTE,
    Json,
    JudgedRule,
    measured,
    over,
    plain,
    several,
)

STEP = {"field": "paymentAmount", "step": "100"}
CARD: Json = {"field": "paymentType", "operator": "=", "value": "CRD"}


_PAYER_HOUR, _PAYER_DAY, _PAIR_DAY = (
    over("payer", HOUR),
    over("payer", DAY),
    over("payer, beneficiary", DAY),
)
_THREE = (
    f"sum(amount) OVER {_PAYER_HOUR} AS c1, count(*) OVER {_PAIR_DAY} AS c2,"
    f" avg(amount) FILTER (WHERE kind = 'CRD') OVER {_PAYER_DAY} AS c3"
)
_PAIRED = "payer IS NOT NULL AND beneficiary IS NOT NULL"
_SUM = measured("SUM", ["payeeId"], HOUR, ">", "900")
_COUNT = measured("COUNT", ["payeeId", "beneficiaryId"], DAY, ">=", "3")
_AVG = measured("AVG", ["payeeId"], DAY, ">=", "150", filter=CARD)

PLAIN = (
    JudgedRule(
        "sum", measured("SUM", ["payeeId"], HOUR, ">", "1500"), plain("sum(amount)", "payer", HOUR, "v > 1500")
    ),
    JudgedRule(
        "average",
        measured("AVG", ["beneficiaryId"], 2 * HOUR, ">=", "400.5"),
        plain("avg(amount)", "beneficiary", 2 * HOUR, "v >= 400.5"),
    ),
    JudgedRule(
        "least",
        measured("MIN", ["payeeId"], 30 * MINUTE, "<", "-150"),
        plain("min(amount)", "payer", 30 * MINUTE, "v < -150"),
    ),
    JudgedRule(
        "greatest",
        measured("MAX", ["paymentType", "payeeId"], 20 * MINUTE, ">=", "799.99"),
        plain("max(amount)", "kind, payer", 20 * MINUTE, "v >= 799.99"),
    ),
    JudgedRule(
        "count", measured("COUNT", ["payeeId", "beneficiaryId"], DAY, ">=", "6"),
        plain("count(*)", "payer, beneficiary", DAY, "v >= 6"),
    ),
    JudgedRule(
        "exactly so many",
        measured("COUNT", ["payeeId"], HOUR, "=", "9"),
        plain("count(*)", "payer", HOUR, "v = 9"),
    ),
    JudgedRule(
        "all but",
        measured("SUM", ["beneficiaryId"], 5 * MINUTE, "!=", "700",
                 filter={"field": "paymentAmount", "multipleOf": "700"}),
        plain("sum(amount)", "beneficiary", 5 * MINUTE, "v <> 700", "amount % 700 = 0"),
    ),
    JudgedRule(
        "everything", measured("COUNT", [], 3 * MINUTE, ">", "14"), plain("count(*)", "", 3 * MINUTE, "v > 14")
    ),
    JudgedRule(
        "equal amounts",
        measured("COUNT", ["paymentAmount"], 10 * MINUTE, ">=", "4"),
        plain("count(*)", "amount", 10 * MINUTE, "v >= 4"),
    ),
    JudgedRule(
        "400 days", measured("SUM", ["paymentType", "payeeId"], 400 * DAY, "<", "-100"),
        plain("sum(amount)", "kind, payer", 400 * DAY, "v < -100"),
    ),
    JudgedRule(
        "different values",
        measured("COUNT_DISTINCT", ["payeeId"], HOUR, ">=", "7", field="beneficiaryId"),
        "SELECT n, ARRAY[v] FROM (SELECT n, (SELECT count(DISTINCT b) FROM unnest(seen) AS b) AS v FROM (SELECT n,"
        f" array_agg(beneficiary) OVER {_PAYER_HOUR} AS seen FROM p WHERE payer IS NOT NULL) listed) judged"
        " WHERE v >= 7",
    ),
)  # fmt: skip

FILTERED = (
    JudgedRule(
        "cards",
        measured("SUM", ["payeeId"], HOUR, ">=", "1100", filter=CARD),
        plain("sum(amount)", "payer", HOUR, "v >= 1100", "kind = 'CRD'"),
    ),
    JudgedRule(
        "all, any, not",
        measured("COUNT", ["payeeId"], HOUR, ">=", "5", filter={
            "any": [{"field": "paymentAmount", "operator": "<", "value": "0"},
                    {"not": {"any": [CARD, {"field": "beneficiaryId", "in": ["b1", "b2", "b3"]}]}}]}),
        # null in a list is false, and its not true
        plain("count(*)", "payer", HOUR, "v >= 5",
              "(amount < 0 OR NOT (kind = 'CRD' OR coalesce(beneficiary IN ('b1', 'b2', 'b3'), false)))"),
    ),
    JudgedRule(
        "to oneself",
        measured("COUNT", ["payeeId"], DAY, ">=", "2",
                 filter={"field": "payeeId", "operator": "=", "otherField": "beneficiaryId"}),
        plain("count(*)", "payer", DAY, "v >= 2", "payer = beneficiary"),
    ),
    JudgedRule(
        "parts of texts",
        measured("SUM", ["beneficiaryId"], HOUR, ">", "700", filter={
            "all": [{"field": "payeeId", "startsWith": "p1"}, {"not": {"field": "payeeId", "contains": "3"}},
                    {"not": {"field": "beneficiaryId", "endsWith": "0"}}]}),
        plain("sum(amount)", "beneficiary", HOUR, "v > 700",
              "payer LIKE 'p1%%' AND payer NOT LIKE '%%3%%' AND beneficiary NOT LIKE '%%0'"),
    ),
    JudgedRule(
        "round amounts",
        measured("COUNT", ["payeeId"], 6 * HOUR, ">=", "6", filter={"field": "paymentAmount", "multipleOf": "50"}),
        plain("count(*)", "payer", 6 * HOUR, "v >= 6", "amount % 50 = 0"),
    ),
    JudgedRule(
        "missing",
        measured("COUNT", ["payeeId"], DAY, ">=", "2", filter={"field": "beneficiaryId", "isNull": True}),
        plain("count(*)", "payer", DAY, "v >= 2", "beneficiary IS NULL"),
    ),
    JudgedRule(
        "nights and weekends",
        measured("SUM", ["payeeId"], 8 * HOUR, ">", "2800", filter={
            "any": [{"localTime": {"zone": "Europe/Berlin", "from": "22:30", "to": "05:00", "days": ["MON", "WED"]}},
                    {"localTime": {"zone": "America/New_York", "from": "00:00", "to": "00:00", "days": ["SAT"]}}]}),
        # the day is that of the evening: a night's morning belongs to the day before
        plain("sum(amount)", "payer", 8 * HOUR, "v > 2800",
              "(local_time(t, 'Europe/Berlin')::time >= '22:30'"
              " AND extract(isodow FROM local_time(t, 'Europe/Berlin')) IN (1, 3)"
              " OR local_time(t, 'Europe/Berlin')::time < '05:00'"
              " AND extract(isodow FROM local_time(t, 'Europe/Berlin') - interval '1 day') IN (1, 3)"
              " OR extract(isodow FROM local_time(t, 'America/New_York')) = 6)"),
    ),
)  # fmt: skip

STEPPED = (
    JudgedRule(
        "steps",
        measured("COUNT", [STEP], 2 * MINUTE, ">=", "5"),
        plain("count(*)", "floor(amount / 100)", 2 * MINUTE, "v >= 5"),
    ),
    JudgedRule(
        "small steps beside a field",
        measured("SUM", ["payeeId", {"field": "paymentAmount", "step": "7.3"}], DAY, "<", "-60"),
        plain("sum(amount)", "payer, floor(amount / 7.3)", DAY, "v < -60"),
    ),
)

CHAINED = (
    JudgedRule(
        "any of groups and steps",
        {"conditions": {"any": [
            measured("COUNT", ["payeeId", STEP], HOUR, ">=", "6"),
            {"all": [measured("SUM", ["payeeId"], HOUR, "<", "0"), measured("MAX", ["payeeId"], DAY, ">", "800")]}]}},
        several(
            f"count(*) OVER {over('payer, floor(amount / 100)', HOUR)} AS c1, sum(amount) OVER {_PAYER_HOUR} AS c2,"
            f" max(amount) OVER {_PAYER_DAY} AS c3",
            "c1 >= 6 OR c2 < 0 AND c3 > 800",
        ),
    ),
    JudgedRule(
        "all, not",
        {"conditions": {"all": [_SUM, _COUNT, {"not": _AVG}]}},
        several(_THREE, "c1 > 900 AND c2 >= 3 AND NOT coalesce(c3 >= 150, false)", _PAIRED),
    ),
    JudgedRule(
        "any of groups",
        {"conditions": {"any": [
            measured("COUNT", ["payeeId", "paymentType"], HOUR, ">=", "9"),
            {"all": [measured("SUM", ["payeeId"], HOUR, "<", "0"), measured("MAX", ["payeeId"], DAY, ">", "800")]}]}},
        several(
            f"count(*) OVER {over('payer, kind', HOUR)} AS c1, sum(amount) OVER {_PAYER_HOUR} AS c2,"
            f" max(amount) OVER {_PAYER_DAY} AS c3",
            "c1 >= 9 OR c2 < 0 AND c3 > 800",
        ),
    ),
    JudgedRule(
        "triggered by a condition's filter",
        {"conditions": {"all": [
            {"not": measured("COUNT", ["payeeId"], HOUR, ">", "1", filter=CARD)},
            measured("SUM", ["payeeId"], DAY, ">=", "16000",
                     filter={"not": {"field": "beneficiaryId", "isNull": True}}),
        ]}},
        several(
            f"count(*) FILTER (WHERE kind = 'CRD') OVER {_PAYER_HOUR} AS c1,"
            f" coalesce(sum(amount) FILTER (WHERE beneficiary IS NOT NULL) OVER {_PAYER_DAY}, 0) AS c2",
            "NOT c1 > 1 AND c2 >= 16000",
            "payer IS NOT NULL AND (kind = 'CRD' OR beneficiary IS NOT NULL)",
            "c1, c2",
        ),
    ),
    JudgedRule(
        "weights",
        {"conditions": {"weighted": [{"weight": "30", "of": _SUM}, {"weight": "40.5", "of": _COUNT},
                                     {"weight": "-20", "of": _AVG}], "atLeast": "50"}},
        f"SELECT n, told || score FROM (SELECT *, (CASE WHEN c1 > 900 THEN 30 ELSE 0 END"
        " + CASE WHEN c2 >= 3 THEN 40.5 ELSE 0 END + CASE WHEN c3 >= 150 THEN -20 ELSE 0 END) AS score,"
        f" ARRAY[c1, c2, c3]::numeric[] AS told FROM (SELECT *, {_THREE} FROM p) measured WHERE {_PAIRED}) weighed"
        " WHERE score >= 50",
    ),
    JudgedRule(
        "weights in weights, of a parameter",
        {"conditions": {"all": [{"not": _AVG}, {"weighted": [
            {"weight": {"parameter": "much"}, "of": {"any": [_SUM, _COUNT]}}, {"weight": "1", "of": {"not": _SUM}}],
            "atLeast": "0.75"}]}},
        f"SELECT n, ARRAY[c3, c1, c2, c1, score]::numeric[] FROM (SELECT *, CASE WHEN c1 > 900 OR c2 >= 3 THEN -0.25"
        f" ELSE 0 END + CASE WHEN c1 > 900 THEN 0 ELSE 1 END AS score FROM (SELECT *, {_THREE} FROM p"
        f") measured WHERE {_PAIRED}) weighed WHERE NOT coalesce(c3 >= 150, false) AND score >= 0.75",
    ),
)  # fmt: skip

FIRING = (
    JudgedRule(
        "crossing",
        measured("SUM", ["payeeId"], HOUR, ">", "600", firing="crossing"),
        "SELECT n, ARRAY[v] FROM (SELECT *, lag(v > 600) OVER w AS held, lag(t) OVER w AS before FROM (SELECT n, t,"
        f" payer, sum(amount) OVER {_PAYER_HOUR} AS v FROM p WHERE payer IS NOT NULL) judged"
        f" WINDOW w AS (PARTITION BY payer ORDER BY t)) told WHERE v > 600"
        f" AND NOT coalesce(held AND before >= t - {1000 * HOUR}, false)",
    ),
    JudgedRule(
        "buckets",
        measured("SUM", ["payeeId"], 2 * HOUR, ">=", "2600", precision="bucketed(600)"),
        "SELECT n, ARRAY[v] FROM (SELECT n, (SELECT sum(x.amount) FROM p x WHERE x.payer = p.payer AND x.t <= p.t"
        f" AND x.t >= (p.t - {2 * HOUR * 1000}) / 600000 * 600000) AS v FROM p WHERE payer IS NOT NULL) judged"
        " WHERE v >= 2600",
    ),
)

_BEFORE = (
    "SELECT n, ARRAY[v]::numeric[] FROM (SELECT n, CASE WHEN lag(t) OVER w >= t - {reach} THEN {value} END AS v FROM p"
    " WHERE payer IS NOT NULL WINDOW w AS (PARTITION BY payer ORDER BY t)) judged WHERE {holds}"
)
ORDERED = (
    JudgedRule(
        "deviation",
        measured("STDDEV", ["payeeId"], HOUR, ">", "420.5"),
        plain("stddev_samp(amount)", "payer", HOUR, "v > 420.5"),
    ),
    JudgedRule(
        "since the one before",
        measured("SECONDS_SINCE_PREVIOUS", ["payeeId"], 10 * MINUTE, "<=", "5.999"),
        _BEFORE.format(reach=600_000, value="(t - lag(t) OVER w) / 1000.0", holds="v <= 5.999"),
    ),
    JudgedRule(
        "since the first",
        measured("SECONDS_SINCE_FIRST", ["payeeId"], HOUR, ">=", "3555"),
        f"SELECT n, ARRAY[v] FROM (SELECT n, (t - min(t) OVER {_PAYER_HOUR}) / 1000.0 AS v FROM p"
        " WHERE payer IS NOT NULL) judged WHERE v >= 3555",
    ),
    JudgedRule(
        "another beneficiary",
        measured("CHANGED", ["payeeId"], MINUTE, "=", "1", field="beneficiaryId"),
        _BEFORE.format(
            reach=60_000,
            value="CASE WHEN lag(beneficiary) OVER w IS DISTINCT FROM beneficiary THEN 1 ELSE 0 END",
            holds="v = 1",
        ),
    ),
)

OF_FIELDS = (*PLAIN, *FILTERED, *STEPPED, *CHAINED, *FIRING, *ORDERED)
