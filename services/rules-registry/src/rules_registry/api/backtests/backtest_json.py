"""The JSON of a backtest."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from rules_registry.domain.backtests.backtest import Backtest

_NO_LABELS = {
    "fraud": 0,
    "falsePositives": 0,
    "alertsOnFraud": 0,
    "alertsOnFalsePositives": 0,
    "fraudFound": 0,
    "precision": None,
    "recall": None,
}


def backtest_json(backtest: Backtest) -> dict[str, Any]:
    """A backtest as the API tells it."""
    wanted, progress = backtest.wanted, backtest.progress
    share = 1 if backtest.state == "done" else progress.get("share", 0)
    return {
        "backtestId": backtest.backtest_id,
        "state": backtest.state,
        "from": wanted.first,
        "to": wanted.until,
        "knowledge": wanted.knowledge,
        "rules": [rule.to_json() for rule in wanted.rules],
        "requestedBy": backtest.requested_by,
        "requestedAt": backtest.requested_at,
        "startedAt": backtest.started_at,
        "endedAt": backtest.ended_at,
        "expiresAt": backtest.expires_at,
        "attempts": backtest.attempts,
        "progress": {
            "percent": int(share * 100),
            "transactions": progress.get("transactions", 0),
            "alerts": progress.get("alerts", 0),
            "seconds": int(progress.get("seconds", 0)),
            "secondsLeft": backtest.seconds_left(),
        },
        "note": backtest.note,
        "failure": backtest.failure,
        "result": None if backtest.result is None else _result_json(backtest.result),
    }


def _result_json(result: Mapping[str, Any]) -> dict[str, Any]:
    """What the engine wrote, with times in ms."""
    return {
        "engine": result["engine"],
        "microBatches": result["microBatches"],
        "transactions": result["transactions"],
        "seconds": round(result["seconds"]),
        "keptAlerts": result["keptAlerts"],
        "rules": [_rule_json(rule) for rule in result["rules"]],
    }


def _rule_json(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "triedId": rule["ruleId"],
        "alerts": rule["alerts"],
        "groups": rule["groups"],
        "topGroups": rule["topGroups"],
        "hours": sorted(
            ({"hour": _ms(hour), "alerts": count} for hour, count in rule["hours"].items()),
            key=lambda item: item["hour"],
        ),
        "beside": rule.get("beside"),
        "labelled": rule.get("labelled", _NO_LABELS),
    }


def _ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)
