"""Rules by the speed between positions, with the haversine formula in floating point as SQL has it.

The rule's own formula is of whole numbers, which SQL cannot say. Both are of one sphere, and at most 0.05 mm and 4.3
millionths of a distance apart; no speed is as near to a limit, or who trips would differ.
`p` has `latitude` and `longitude` too, both null where the payment has no position.
"""

from __future__ import annotations

from decimal import Decimal
from random import Random

from tests.integration.judged_by_sql.judged_rule import DAY, HOUR, JudgedRule, measured

HAVERSINE = """
CREATE FUNCTION kilometres(lat1 float8, lon1 float8, lat2 float8, lon2 float8) RETURNS float8 LANGUAGE sql IMMUTABLE
STRICT
RETURN 2 * 6371.0088 * asin(least(1, sqrt(power(sin(radians(lat2 - lat1) / 2), 2)
  + cos(radians(lat1)) * cos(radians(lat2)) * power(sin(radians(lon2 - lon1) / 2), 2))));
"""
_FAR, _NEAR = Decimal("0.00001"), Decimal("0.005")
"""Of half a metre or more the second one is more than 0.05 mm; it is what the specification grants."""
_HOMES = (
    (52.52, 13.405),
    (48.857, 2.352),
    (40.713, -74.006),
    (-33.869, 151.209),
    (64.147, -21.943),
    (0.0, 179.9),
)
_BEFORE = (
    "SELECT n, ARRAY[v]::numeric[] FROM (SELECT n, CASE WHEN lag(t) OVER w >= t - {reach} THEN kilometres(lag(latitude)"
    " OVER w, lag(longitude) OVER w, latitude, longitude) / ((t - lag(t) OVER w) / 3600000.0) END AS v FROM p"
    " WHERE {by} IS NOT NULL AND {where} WINDOW w AS (PARTITION BY {by} ORDER BY t)) judged WHERE {holds}"
)

OF_SPEEDS = (
    JudgedRule(
        "faster than a plane",
        measured("SPEED_KMH", ["payeeId"], 6 * HOUR, ">", "1000", field="position"),
        _BEFORE.format(by="payer", reach=6 * 3_600_000, where="true", holds="v > 1000"),
        _FAR,
    ),
    JudgedRule(
        "hardly moved, of those that come from somewhere",
        measured("SPEED_KMH", ["beneficiaryId"], DAY, "<", "0.05", field="position",
                 filter={"not": {"field": "position", "isNull": True}}),
        _BEFORE.format(by="beneficiary", reach=24 * 3_600_000, where="latitude IS NOT NULL", holds="v < 0.05"),
        _NEAR,
    ),
)  # fmt: skip


def positions(count: int) -> list[str | None]:
    """Of payments: near a few places all over the earth, mostly the first; of one in twenty nothing is known."""
    rng, made = Random(43), list[str | None]()
    for _ in range(count):
        ((latitude, longitude),) = rng.choices(_HOMES, [92, 2, 2, 2, 1, 1])
        apart = rng.choice([0.001, 0.05])
        north, east = latitude + rng.uniform(-apart, apart), longitude + rng.uniform(-apart, apart)
        made.append(None if rng.random() < 0.05 else f"{north:.6f},{east:.6f}")
    return made
