"""Rules by a party, each with the SQL that says the same of entries: one of a payment for each side with an account.

A query tells the entry's side too. `e` has what `p` has, `account`, `side`, and `k`, by which entries are in order:
twice the time, and one more for the side that is declared later. A window begins with both entries of its first moment,
so it is one longer for the later side.
"""

from __future__ import annotations

from tests.integration.judged_by_sql.judged_rule import DAY, HOUR, MINUTE, Json, JudgedRule, measured

ENTRIES = """
CREATE TABLE e AS SELECT p.*, payer AS account, 'payer' AS side, 2 * t AS k FROM p WHERE payer IS NOT NULL
UNION ALL SELECT p.*, beneficiary, 'payee', 2 * t + 1 FROM p WHERE beneficiary IS NOT NULL;
ANALYZE e;
"""


def _over(by: str, seconds: int, later: int) -> str:
    return f"(PARTITION BY {by} ORDER BY k RANGE BETWEEN {2000 * seconds + later} PRECEDING AND CURRENT ROW)"


def entered(aggregate: str, seconds: int, by: str = "account") -> str:
    """The aggregate over the window back from each entry."""
    return (
        f"CASE side WHEN 'payer' THEN {aggregate} OVER {_over(by, seconds, 0)}"
        f" ELSE {aggregate} OVER {_over(by, seconds, 1)} END"
    )


def _told(values: str, holds: str, told: str = "v") -> str:
    return f"SELECT n, ARRAY[{told}]::numeric[], side FROM (SELECT *, {values} FROM e) judged WHERE {holds}"


_PAYING: Json = {"side": "payer"}
_CAME: Json = {
    "measure": {
        "aggregatorFunctionType": "SUM",
        "aggregateFieldName": "paymentAmount",
        "groupingKeyNames": ["account"],
        "windowSeconds": DAY,
        "filter": {"side": "payee"},
        "minimumCount": 2,
    }
}
_PAID, _GOT = "FILTER (WHERE side = 'payer')", "FILTER (WHERE side = 'payee')"

OF_PARTIES = (
    JudgedRule(
        "by account",
        measured("SUM", ["account"], HOUR, ">", "2400"),
        _told(f"{entered('sum(amount)', HOUR)} AS v", "v > 2400"),
    ),
    JudgedRule(
        "by account, as it pays",
        measured("COUNT", ["account", "paymentType"], DAY, ">=", "40", filter=_PAYING),
        _told(f"{entered(f'count(*) {_PAID}', DAY, 'account, kind')} AS v", "v >= 40 AND side = 'payer'"),
    ),
    JudgedRule(
        "who is paid, by an account and to it",
        measured("COUNT_DISTINCT", ["account"], HOUR, ">=", "9", field="beneficiaryId"),
        "SELECT n, ARRAY[v], side FROM (SELECT n, side, (SELECT count(DISTINCT b) FROM unnest(seen) AS b) AS v FROM"
        f" (SELECT n, side, {entered('array_agg(beneficiary)', HOUR)} AS seen FROM e) listed) judged WHERE v >= 9",
    ),
    JudgedRule(
        "to oneself, or at once",
        measured("SECONDS_SINCE_PREVIOUS", ["account"], MINUTE, "<=", "0.999"),
        "SELECT n, ARRAY[v]::numeric[], side FROM (SELECT n, side, CASE WHEN lag(t) OVER w >= t - 60000 THEN"
        " (t - lag(t) OVER w) / 1000.0 END AS v FROM e WINDOW w AS (PARTITION BY account ORDER BY k)) judged"
        " WHERE v <= 0.999",
    ),
    JudgedRule(
        "what came in went out again",
        {"conditions": {"all": [
            measured("SUM", ["account"], DAY, ">=", {**_CAME, "times": "0.95", "plus": "0"}, filter=_PAYING),
            measured("SUM", ["account"], DAY, "<=", {**_CAME, "times": "1.05", "plus": "0.5"}, filter=_PAYING),
        ]}},
        _told(
            f"{entered(f'sum(amount) {_PAID}', DAY)} AS v, {entered(f'sum(amount) {_GOT}', DAY)} AS came,"
            f" {entered(f'count(*) {_GOT}', DAY)} AS often",
            "side = 'payer' AND often >= 2 AND v >= 0.95 * came AND v <= 1.05 * came + 0.5",
            "v, v",
        ),
    ),
)  # fmt: skip
