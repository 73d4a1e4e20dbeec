"""A rule whose shadow is rolled out to half of its groups: alerts of both arms, and what became of them."""

from __future__ import annotations

from functools import partial
from itertools import cycle, islice, product
from typing import Any, Final

from tests.browser.traffic import is_applied
from tests.stack import RunningStack, eventually
from tripline_contracts.rules.rollout import is_on_trial

SECONDS: Final = 180.0
ANY_VERSION: Final = {"If-Match": "*"}
SHARE: Final = 50
GROUPS, PAYMENTS = 4, 6
"""Groups of each arm, and what each of them pays; of these the shadow alerts about three, the rule about two."""
TRIED: Final[dict[str, Any]] = {
    "name": "More than 4 payments of a new payer within a minute",
    "groupingKeyNames": ["payeeId"],
    "aggregatorFunctionType": "COUNT",
    "limitOperatorType": ">",
    "limit": "4",
    "windowSeconds": 60,
    "filter": {"field": "payeeId", "startsWith": "new-"},
}
SENT: Final = {"beneficiaryId": "shop-7", "paymentType": "CRD", "paymentAmount": "49.90"}
OUTCOMES: Final = ("confirmed_fraud", "confirmed_fraud", "false_positive")


def rolled_out(stack: RunningStack) -> int:
    """The id of the rule, once that has come of it."""
    with stack.registry() as registry:
        rule = registry.post("/v1/rules", json=TRIED).raise_for_status().json()
        shadow = f"/v1/rules/{rule['ruleId']}/shadow"
        registry.post(shadow, json={**TRIED, "limit": "3"}, headers=ANY_VERSION).raise_for_status()
        why = {"reason": "half of the new payers first"}
        share = {"percent": SHARE}
        out = registry.post(f"{shadow}/rollout", json=share, headers=ANY_VERSION, params=why)
        version = out.raise_for_status().json()["version"]
    eventually(partial(is_applied, stack, {**rule, "version": version}), "it is rolled out", SECONDS)
    rule_id: int = rule["ruleId"]
    payees = of_both_arms(rule_id)
    with stack.generator() as generator:
        for _, payee in product(range(PAYMENTS), payees):
            generator.post("/v1/transactions", json={**SENT, "payeeId": payee}).raise_for_status()
    with stack.alerts() as alerts:
        query = {"ruleId": rule_id, "limit": 100}

        def told() -> int:
            return len(alerts.get("/v1/alerts", params=query).raise_for_status().json()["items"])

        eventually(lambda: told() == GROUPS * (3 + 2), "both arms alert", SECONDS)
        for payee, outcome in zip(payees, cycle(OUTCOMES), strict=False):
            asked = alerts.get("/v1/cases", params={"subject": f"payeeId:{payee}"}).raise_for_status()
            (case,) = asked.json()["items"]
            body = {"outcome": outcome, "comment": "Looked at."}
            path = f"/v1/cases/{case['caseId']}/resolve"
            alerts.post(path, json=body, headers=ANY_VERSION).raise_for_status()
    return rule_id


def of_both_arms(rule_id: int) -> list[str]:
    """Payers, on trial and not by turns."""
    payers = [f"new-{n}" for n in range(100)]
    arms = [
        [payer for payer in payers if is_on_trial(rule_id, {"payeeId": payer}, SHARE) is on_trial]
        for on_trial in (True, False)
    ]
    return [payer for both in islice(zip(*arms, strict=False), GROUPS) for payer in both]
