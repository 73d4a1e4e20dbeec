"""What the pictured line holds: rules of every kind, frauds that trip them, and what people did about it."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import httpx

from tests.browser.gallery.rollout import rolled_out
from tests.browser.oversight.test_rejected import produce
from tests.browser.support.four_eyes import client_of
from tests.browser.traffic import is_applied
from tests.stack import RunningStack, eventually

SECONDS: Final = 180.0
FRAUDS: Final = ("card-testing", "beneficiary-burst", "many-payers")
ANY_VERSION: Final = {"If-Match": "*"}
MANY: Final[dict[str, Any]] = {
    "name": "More than 20 payments by one payer within a minute",
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "COUNT",
    "limitOperatorType": ">",
    "limit": "20",
    "windowSeconds": 60,
}
_FORM: Final = {name: said for name, said in MANY.items() if name != "name"}
_USUAL: Final[dict[str, Any]] = {
    "aggregatorFunctionType": "AVG",
    "aggregateFieldName": "paymentAmount",
    "windowSeconds": 2592000,
    "offsetSeconds": 86400,
}
SEVERAL: Final[dict[str, Any]] = {
    "name": "Many payments of few kinds, and never much money",
    "conditions": {
        "all": [
            {**_FORM, "limit": {"parameter": "many-payments"}},
            {"not": {**_FORM, "aggregatorFunctionType": "SUM", "aggregateFieldName": "paymentAmount",
                     "limit": "900000000", "windowSeconds": 3600}},
        ]
    },
    "filter": {"field": "paymentType", "in": {"list": "watched-types"}},
}  # fmt: skip
WEIGHED: Final[dict[str, Any]] = {
    "name": "Signs of a tested card, weighed",
    "conditions": {
        "weighted": [{"weight": "30.5", "of": {**_FORM, "limit": "5"}}, {"weight": "-20", "of": _FORM}],
        "atLeast": "30",
    },
}
RELATIVE: Final[dict[str, Any]] = {
    "name": "Three times what the payer usually spends in a day",
    "conditions": {
        **_FORM,
        "aggregatorFunctionType": "SUM",
        "aggregateFieldName": "paymentAmount",
        "windowSeconds": 86400,
        "limit": {"measure": {**_USUAL, "minimumCount": 5}, "times": "3", "plus": "0"},
    },
}
BUCKETED: Final[dict[str, Any]] = {
    **MANY,
    "name": "More than 40,000 to one beneficiary in about 30 days",
    "groupingKeyNames": ["beneficiaryId"],
    "aggregatorFunctionType": "SUM",
    "aggregateFieldName": "paymentAmount",
    "limit": "40000",
    "windowSeconds": 2592000,
    "precision": "bucketed(3600)",
}
PURPOSE: Final = {
    "description": "Cards are tried out with many small payments.\nThen comes a large one.",
    "severity": "high",
    "tags": ["card-testing", "velocity"],
    "owner": "Team Cards",
    "playbook": "https://playbooks.example/card-testing",
}


@dataclass(frozen=True, slots=True)
class Contents:
    """What the scenes name.

    :ivar rules: ids of rules, by the names of their bodies here; `alerts` are the newest ones of these
    :ivar backtests: of published rules, and of a draft with several limits
    """

    rules: dict[str, int]
    alerts: dict[str, str]
    case_id: int
    transaction_id: str
    backtests: tuple[int, int]


def filled(stack: RunningStack) -> Contents:
    """The line with all that; it stays so until the line ends."""
    since = _now() - 60_000
    with stack.registry() as registry:
        rules = _publish(stack, registry)
    with stack.generator() as generator:
        generator.put("/v1/traffic", json={"rate": 10}).raise_for_status()
        for fraud in FRAUDS * 2:
            generator.post(f"/v1/scenarios/{fraud}/plays").raise_for_status()
        with stack.alerts() as alerts:
            for name in ("many", "several", "weighed", "bucketed"):
                asked = {"ruleId": rules[name]}
                _wait_for(alerts, asked, f"the rule {name} alerts")
        generator.put("/v1/traffic", json={"rate": 0}).raise_for_status()
    produce(stack, b'{"transactionId": "cut-off", "eventTime": 17', "no JSON, but Größe".encode())
    with stack.alerts() as alerts:
        made = _newest(alerts, rules)
        _work(alerts, made)
    _change(stack, rules)
    rules["rolled out"] = rolled_out(stack)
    return replace(made, backtests=_tried(stack, rules, since))


def _publish(stack: RunningStack, registry: httpx.Client) -> dict[str, int]:
    registry.put("/v1/lists/watched-types", json={"values": ["CRD", "CSH"]}).raise_for_status()
    registry.put(
        "/v1/lists/known-shops", json={"values": [f"shop-{n}" for n in range(60)]}
    ).raise_for_status()
    registry.put("/v1/parameters/many-payments", json={"value": "10"}).raise_for_status()
    bodies = {
        "many": MANY,
        "several": SEVERAL,
        "weighed": WEIGHED,
        "relative": RELATIVE,
        "bucketed": BUCKETED,
    }
    made = {
        name: registry.post("/v1/rules", json=body).raise_for_status().json() for name, body in bodies.items()
    }
    for rule in made.values():
        eventually(partial(is_applied, stack, rule), f"{rule['name']} is applied", SECONDS)
    many = f"/v1/rules/{made['many']['ruleId']}"
    registry.put(f"{many}/purpose", json=PURPOSE, headers=ANY_VERSION).raise_for_status()
    registry.post(f"{many}/shadow", json={**MANY, "limit": "10"}, headers=ANY_VERSION).raise_for_status()
    eventually(lambda: is_applied(stack, {**made["many"], "version": 2}), "the shadow is applied", SECONDS)
    return {name: rule["ruleId"] for name, rule in made.items()}


def _wait_for(alerts: httpx.Client, query: dict[str, Any], what: str) -> None:
    eventually(lambda: alerts.get("/v1/alerts", params=query).json()["items"], what, SECONDS)


def _newest(alerts: httpx.Client, rules: dict[str, int]) -> Contents:
    newest = {
        name: alerts.get("/v1/alerts", params={"ruleId": rules[name]}).json()["items"][0]
        for name in ("many", "several", "weighed", "bucketed")
    }
    payee = newest["many"]["group"]["payeeId"]
    [case] = alerts.get("/v1/cases", params={"subject": f"payeeId:{payee}"}).json()["items"]
    ids = {name: alert["alertId"] for name, alert in newest.items()}
    return Contents(rules, ids, case["caseId"], newest["many"]["transaction"]["transactionId"], (0, 0))


def _work(alerts: httpx.Client, made: Contents) -> None:
    """A case that is worked on, one that was, views, a snooze, alerts that were looked at."""
    case = f"/v1/cases/{made.case_id}"
    for act, body in (
        ("comment", {"comment": "Called the payer: she did not make these."}),
        ("assign", {"assignee": "second-analyst", "comment": "Yours, please."}),
    ):
        alerts.post(f"{case}/{act}", json=body, headers=ANY_VERSION).raise_for_status()
    others = [one for one in alerts.get("/v1/cases").json()["items"] if one["caseId"] != made.case_id]
    for other, outcome in zip(others, ("false_positive", "confirmed_fraud"), strict=False):
        body = {"outcome": outcome, "comment": "The yearly sale."}
        path = f"/v1/cases/{other['caseId']}/resolve"
        alerts.post(path, json=body, headers=ANY_VERSION).raise_for_status()
    alerts.put("/v1/views/Cards", json={"filter": {"ruleId": [made.rules["many"]]}})
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 8 * 3600))
    snooze = {"ruleId": made.rules["weighed"], "until": until, "reason": "The terminals are being tested."}
    alerts.post("/v1/snoozes", json=snooze).raise_for_status()


def _change(stack: RunningStack, rules: dict[str, int]) -> None:
    """Versions, a pause, an end; keys and commands; webhooks, of which one takes nothing."""
    with stack.registry() as registry:
        relative, bucketed = (f"/v1/rules/{rules[name]}" for name in ("relative", "bucketed"))
        why = {"reason": "too many alerts at the end of a month"}
        for limit in ("50000", "60000"):
            registry.put(
                bucketed, json={**BUCKETED, "limit": limit}, headers=ANY_VERSION, params=why
            ).raise_for_status()
        registry.post(
            f"{relative}/pause", headers=ANY_VERSION, params={"reason": "it floods"}
        ).raise_for_status()
    with stack.registry("admin") as admin:
        for name, role in (("nina@bank.example", "analyst"), ("night-shift", "viewer")):
            admin.post("/v1/keys", json={"name": name, "role": role}).raise_for_status()
    with stack.alerts("ops") as ops:
        desk = {"name": "Fraud desk", "url": "http://127.0.0.1:9/in", "minSeverity": "high"}
        made = ops.post("/v1/webhooks", json=desk).raise_for_status().json()
        ops.post(f"/v1/webhooks/{made['webhookId']}/test").raise_for_status()
        paused = ops.post("/v1/webhooks", json={**desk, "name": "Night shift", "template": "slack"})
        ops.post(f"/v1/webhooks/{paused.raise_for_status().json()['webhookId']}/pause").raise_for_status()


def _tried(stack: RunningStack, rules: dict[str, int], since: int) -> tuple[int, int]:
    """The ids of two backtests that are done."""
    span = {"from": since, "to": _now()}
    published = {**span, "rules": [{"ruleId": rules["many"]}, {"ruleId": rules["several"]}]}
    draft = {
        **span,
        "rule": {**MANY, "name": "A draft"},
        "beside": rules["many"],
        "limits": ["5", "10", "30"],
    }
    with stack.registry() as registry:
        first, second = (
            registry.post("/v1/backtests", json=body).raise_for_status().json()["backtestId"]
            for body in (published, draft)
        )
        paths = [f"/v1/backtests/{backtest_id}" for backtest_id in (first, second)]

        def are_done() -> bool:
            return all(registry.get(path).json()["state"] == "done" for path in paths)

        eventually(are_done, "they are tried", SECONDS)
    return first, second


def drafted(stack: RunningStack, registry_url: str, rules: dict[str, int]) -> None:
    """Changes that wait for approval, of a registry that needs one; one has an estimate."""
    with client_of(stack, registry_url, "analyst") as registry:
        new = registry.post(
            "/v1/rules", json={**MANY, "name": "Many within five minutes", "windowSeconds": 300}
        )
        path = f"/v1/changes/{new.raise_for_status().json()['changeId']}"
        registry.post(f"{path}/submit", params={"reason": "cards are being tested"}).raise_for_status()
        changed = {**SEVERAL, "filter": {"field": "paymentType", "operator": "=", "value": "CRD"}}
        several = f"/v1/rules/{rules['several']}"
        registry.put(several, json=changed, headers=ANY_VERSION).raise_for_status()
        registry.put("/v1/lists/known-shops", json={"values": ["shop-1", "shop-99"]}).raise_for_status()
        registry.delete(f"/v1/rules/{rules['weighed']}", headers=ANY_VERSION).raise_for_status()
        wider = f"/v1/rules/{rules['rolled out']}/shadow/rollout"
        registry.post(wider, json={"percent": 80}, headers=ANY_VERSION).raise_for_status()
        estimated = ("done", "failed")
        eventually(
            lambda: registry.get(path).json()["estimate"]["state"] in estimated, "it is estimated", SECONDS
        )


def _now() -> int:
    return time.time_ns() // 1_000_000
