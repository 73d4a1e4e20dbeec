"""What the registry sends to begin a backtest, or an estimate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tripline_contracts.event_type import MAX_TIMESTAMP
from tripline_engine.domain.proof.claim import UnreadableClaim
from tripline_engine.prover.backtest_job import AS_IT_WAS, KNOWLEDGE, BacktestAsked, EstimateAsked

_MOST_ALERTS: Final = 10**9
_MAX_ID: Final = 2**31 - 1


def read_backtest(body: Mapping[str, Any]) -> BacktestAsked:
    """Raises UnreadableClaim. What the definitions say is the backtest's own to judge."""
    rules = body.get("rules")
    if not isinstance(rules, list) or not rules or not all(isinstance(rule, dict) for rule in rules):
        raise UnreadableClaim("rules: expected objects, one at least")
    return BacktestAsked(
        rules=rules,
        first=read_integer(body, "from", 0, MAX_TIMESTAMP),
        until=read_integer(body, "until", 0, MAX_TIMESTAMP),
        beside={_id(pair, 0): _id(pair, 1) for pair in _pairs(body, "beside")},
        labels={
            name: fraud
            for name, fraud in _pairs(body, "labels")
            if isinstance(name, str) and isinstance(fraud, bool)
        },
        most_alerts=read_integer(body, "mostAlerts", 0, _MOST_ALERTS),
        knowledge=_knowledge(body.get("knowledge", AS_IT_WAS)),
    )


def read_estimate(body: Mapping[str, Any]) -> EstimateAsked:
    """Raises UnreadableClaim. What the definition says is the estimate's own to judge."""
    rule = body.get("rule")
    if not isinstance(rule, dict):
        raise UnreadableClaim("rule: expected an object")
    return EstimateAsked(
        rule=rule,
        days=read_integer(body, "days", 1, 3_660),
        transactions=read_integer(body, "transactions", 1_000, 10**12),
        most_seconds=read_integer(body, "seconds", 1, 604_800),
    )


def read_integer(body: Mapping[str, Any], name: str, least: int, most: int) -> int:
    """A member of a body. Raises UnreadableClaim."""
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise UnreadableClaim(f"{name}: expected an integer from {least} to {most}")
    return value


def _knowledge(text: object) -> str:
    if text not in KNOWLEDGE:
        raise UnreadableClaim(f"knowledge: expected {' or '.join(KNOWLEDGE)}")
    return str(text)


def _pairs(body: Mapping[str, Any], name: str) -> list[list[Any]]:
    pairs = body.get(name, [])
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise UnreadableClaim(f"{name}: expected pairs")
    return pairs


def _id(pair: list[Any], index: int) -> int:
    return read_integer({"beside": pair[index]}, "beside", 1, _MAX_ID)
