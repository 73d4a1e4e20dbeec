"""A backtest as the registry tells it, under way or done."""

from __future__ import annotations

from typing import Any, Final

HOUR: Final = 3_600_000
FROM: Final = 1_777_600_800_000
DEFINITION: Final[dict[str, Any]] = {
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "COUNT",
    "aggregateFieldName": None,
    "limitOperatorType": ">",
    "limit": "20",
    "windowSeconds": 600,
    "firing": "every",
    "lateEvents": "evaluate",
    "precision": "exact",
}
_ALERTS: Final = [n * n * 7 % 23 for n in range(72)]


def made_up_backtest(state: str = "done", **changes: Any) -> dict[str, Any]:
    """Over three days; with a live rule beside it, and labels."""
    is_done = state == "done"
    return {
        "backtestId": 12,
        "state": state,
        "from": FROM,
        "to": FROM + 72 * HOUR,
        "knowledge": "as-it-was",
        "rules": [
            {"triedId": 1, "name": "Many payments by one payer", "definition": DEFINITION, "ruleId": None,
             "version": None, "beside": 7, "counted": False}
        ],
        "requestedBy": "analyst",
        "requestedAt": FROM + 73 * HOUR,
        "startedAt": FROM + 73 * HOUR,
        "endedAt": FROM + 73 * HOUR + 90_000 if is_done else None,
        "expiresAt": FROM + 800 * HOUR if is_done else None,
        "attempts": 1,
        "progress": {
            "percent": 100 if is_done else 42, "transactions": 1_250_000, "alerts": sum(_ALERTS), "seconds": 90,
            "secondsLeft": None if is_done else 124,
        },
        "note": None,
        "failure": None,
        "result": _result() if is_done else None,
        **changes,
    }  # fmt: skip


def _result() -> dict[str, Any]:
    return {
        "engine": "1f0c", "microBatches": 86_400, "transactions": 1_250_000, "seconds": 88, "keptAlerts": 2,
        "rules": [
            {
                "triedId": 1, "alerts": sum(_ALERTS), "groups": 14,
                "topGroups": [{"group": {"payeeId": f"payer-{n}"}, "alerts": 200 // n} for n in range(1, 9)],
                "hours": [{"hour": FROM + n * HOUR, "alerts": count} for n, count in enumerate(_ALERTS) if count],
                "beside": {"ruleId": 7, "both": 610, "onlyTried": 180, "onlyLive": 42},
                "labelled": {
                    "fraud": 24, "falsePositives": 6, "alertsOnFraud": 20, "alertsOnFalsePositives": 4,
                    "fraudFound": 18, "precision": "0.8333", "recall": "0.7500",
                },
            }
        ],
    }  # fmt: skip


def made_up_sweep() -> dict[str, Any]:
    """The same with two limits more, and two windows."""
    backtest = made_up_backtest(backtestId=13)
    [rule], [result] = backtest["rules"], backtest["result"]["rules"]
    others: tuple[tuple[int, str, dict[str, Any], int], ...] = (
        (2, "limit 10", {"limit": "10"}, 2_400),
        (3, "limit 50", {"limit": "50"}, 120),
        (4, "window 90 s", {"windowSeconds": 90}, 14),
        (5, "window 1 h", {"windowSeconds": 3_600}, 1_830),
    )
    for tried_id, name, more, alerts in others:
        backtest["rules"].append(
            {
                **rule,
                "triedId": tried_id,
                "counted": True,
                "name": f"{rule['name']}, {name}",
                "definition": {**DEFINITION, **more},
            }
        )
        backtest["result"]["rules"].append({**result, "triedId": tried_id, "alerts": alerts})
    return backtest


def tried_alerts() -> dict[str, Any]:
    """Its alerts."""
    return {
        "items": [
            {
                "alertId": f"a{n}", "ruleId": 1, "group": {"payeeId": f"payer-{n}"},
                "transaction": {"transactionId": f"t{n}", "eventTime": FROM + n * HOUR},
            }
            for n in (1, 2)
        ]
    }  # fmt: skip
