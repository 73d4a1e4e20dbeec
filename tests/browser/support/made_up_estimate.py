"""An estimate as the registry tells it, with the first day beside it."""

from __future__ import annotations

from typing import Any

FROM = 1_777_600_000_000
DAY_MS = 86_400_000


def made_up_estimate(**changes: Any) -> dict[str, Any]:
    """Of a rule with groups, from a quarter of them over two days."""
    return {
        "state": "done",
        "note": None,
        "failure": None,
        "endedAt": FROM + 2 * DAY_MS,
        "sample": {
            "parts": 4, "grouped": True, "from": FROM, "to": FROM + 2 * DAY_MS, "transactions": 2_000, "seconds": 2,
        },
        "figures": {
            "alertsPerDay": {"value": "60.0", "low": "21", "high": "116"},
            "groupsPerDay": {"value": "30.0", "low": "12", "high": "54"},
            "bytes": {"value": "4500000", "low": "4400000", "high": "4600000"},
            "evaluationsPerSecond": {"value": "4.000", "low": "3.998", "high": "4.002"},
        },
        "actual": {"from": FROM + 3 * DAY_MS, "to": FROM + 4 * DAY_MS, "alerts": 71, "groups": 28},
        **changes,
    }  # fmt: skip
