"""A rule with the SQL that says the same, and what many of them have in common."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

Json = dict[str, Any]
MINUTE, HOUR, DAY = 60, 3_600, 86_400


@dataclass(frozen=True, slots=True)
class JudgedRule:
    """A rule's definition as people send it, and what SQL makes of it.

    :ivar within: how far from SQL's a value may be, as a share of it: where SQL counts in floating point
    """

    name: str
    definition: Json
    sql: str
    within: Decimal = Decimal(0)


def measured(
    function: str,
    by: list[Any],
    seconds: int,
    operator: str,
    limit: Any,
    *,
    field: str | None = None,
    **more: Any,
) -> Json:
    """A rule, or a condition, of an amount unless it counts."""
    measures = None if function == "COUNT" or "SINCE" in function else field or "paymentAmount"
    return {
        "groupingKeyNames": by,
        "aggregatorFunctionType": function,
        "aggregateFieldName": measures,
        "limitOperatorType": operator,
        "limit": limit,
        "windowSeconds": seconds,
        **more,
    }


def over(by: str, seconds: int) -> str:
    """The window back from each payment, both ends included."""
    partition = f"PARTITION BY {by} " if by else ""
    return f"({partition}ORDER BY t RANGE BETWEEN {1000 * seconds} PRECEDING AND CURRENT ROW)"


def plain(aggregate: str, by: str, seconds: int, holds: str, where: str = "true") -> str:
    """A rule of one condition; `holds` is about `v`."""
    present = " AND ".join(
        f"{name} IS NOT NULL" for name in by.split(", ") if name in ("payer", "beneficiary")
    )
    return (
        f"SELECT n, ARRAY[v] FROM (SELECT n, {aggregate} OVER {over(by, seconds)} AS v FROM p"
        f" WHERE {present or 'true'} AND {where}) judged WHERE {holds}"
    )


# Of nothing a comparison is null in SQL, and false here; its `not` is true. Who is judged is asked last: a payment that
# the rule has no group for counts in the window of a condition that has one.
def several(values: str, holds: str, judged: str = "payer IS NOT NULL", told: str = "c1, c2, c3") -> str:
    """A rule of several conditions over `c1`, `c2` …"""
    return f"SELECT n, ARRAY[{told}]::numeric[] FROM (SELECT *, {values} FROM p) measured WHERE {judged} AND ({holds})"
