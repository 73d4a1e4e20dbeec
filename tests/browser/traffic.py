"""A rule of these tests' own and a played fraud that trips it: something for the console to show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.stack import RunningStack, eventually

LIMIT = 20
SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class Tripped:
    """The rule, and its alerts, newest first."""

    rule: dict[str, Any]
    alerts: list[dict[str, Any]]


def definition(name: str, limit: int = LIMIT) -> dict[str, Any]:
    """More payments than the limit by one payer within a minute, as a card that is tested makes them."""
    return {
        "name": name,
        "groupingKeyNames": ["payeeId"],
        "aggregatorFunctionType": "COUNT",
        "limitOperatorType": ">",
        "limit": str(limit),
        "windowSeconds": 60,
    }


def is_applied(stack: RunningStack, rule: dict[str, Any]) -> bool:
    """Whether every shard has taken the rule's version."""
    with stack.registry() as registry:
        items = registry.get("/v1/rule-status", params={"ruleId": rule["ruleId"]}).json()["items"]
    return bool(items) and (items[0]["appliedVersion"] or 0) >= rule["version"]


def alerts_of(stack: RunningStack, rule_id: int, payee: str, field: str = "payeeId") -> list[dict[str, Any]]:
    """Those of one payer, or of the account as a party, newest first."""
    query: dict[str, str | int] = {"ruleId": rule_id, "group": f"{field}:{payee}"}
    with stack.alerts() as alerts:
        items: list[dict[str, Any]] = alerts.get("/v1/alerts", params=query).json()["items"]
    return items


def delete_rule(stack: RunningStack, rule_id: int) -> None:
    """For good; one that is gone already stays gone."""
    with stack.registry() as registry:
        registry.delete(f"/v1/rules/{rule_id}", headers={"If-Match": "*"})


@contextmanager
def published_rule(stack: RunningStack, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A rule of that definition, deleted at the end."""
    with stack.registry() as registry:
        made: dict[str, Any] = registry.post("/v1/rules", json=body).raise_for_status().json()
    try:
        yield made
    finally:
        delete_rule(stack, made["ruleId"])


@contextmanager
def tripped_rule(
    stack: RunningStack, name: str = "Browser: many payments by one payer", *, paused: bool = True
) -> Iterator[Tripped]:
    """Publishes, waits until it is applied, plays, waits for the alerts, pauses; retires the rule at the end."""
    with published_rule(stack, definition(name)) as rule:
        eventually(lambda: is_applied(stack, rule), "the rule is applied", SECONDS)
        with stack.generator() as generator:
            played = generator.post("/v1/scenarios/card-testing/plays").raise_for_status().json()
        wanted, payee, rule_id = played["transactions"] - LIMIT, played["payeeId"], rule["ruleId"]
        eventually(lambda: len(alerts_of(stack, rule_id, payee)) == wanted, "the alerts are there", SECONDS)
        if not paused:
            yield Tripped(rule, alerts_of(stack, rule_id, payee))
            return
        with stack.registry() as registry:
            # Other tests play frauds too: paused, the rule keeps the alerts that it has.
            answer = registry.post(f"/v1/rules/{rule_id}/pause", headers={"If-Match": "*"})
        stopped = answer.raise_for_status().json()
        eventually(lambda: is_applied(stack, stopped), "the pause is applied", SECONDS)
        yield Tripped(stopped, alerts_of(stack, rule_id, payee))
