"""A rule that is live, and tried over the same span: on the real line, through the registry, the prover and Kafka."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from rules_registry.cli import main
from tests.browser.traffic import SECONDS, alerts_of, definition, is_applied
from tests.stack import RunningStack, eventually
from tripline_contracts.cloudevents import rfc3339

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(400)]

NAME = "Backtest: many payments by one payer"
LIMIT = 20
HOUR = 3_600_000
URL = "/v1/backtests"


def ended(registry: httpx.Client, asked: dict[str, Any]) -> dict[str, Any]:
    seen: list[dict[str, Any]] = []

    def is_over() -> bool:
        seen.append(registry.get(f"{URL}/{asked['backtestId']}").raise_for_status().json())
        return seen[-1]["state"] in ("done", "failed", "cancelled")

    eventually(is_over, "the backtest ends", 180)
    return seen[-1]


BY_ACCOUNT = "Backtest: an account beside itself"


def by_account() -> dict[str, Any]:
    """By the party, with what else the language has: sides, steps, a measured limit, deviations, and the order."""
    count = {key: value for key, value in definition("").items() if key != "name"}
    condition = {**count, "groupingKeyNames": ["account"], "limit": "1000000000", "filter": {"side": "payer"}}
    amount = {**condition, "aggregateFieldName": "paymentAmount"}
    paid = {
        "groupingKeyNames": ["account"],
        "aggregatorFunctionType": "SUM",
        "aggregateFieldName": "paymentAmount",
    }
    behind = {**paid, "windowSeconds": 86_400, "filter": {"side": "payee"}, "minimumCount": 1}
    parts = [
        {**condition, "limit": str(LIMIT)},
        {**amount, **paid, "limit": {"measure": behind, "times": "1000000"}},
        {**amount, "aggregatorFunctionType": "STDDEV"},
        {**amount, "aggregatorFunctionType": "CHANGED", "aggregateFieldName": "beneficiaryId"},
        {**condition, "groupingKeyNames": ["account", {"field": "paymentAmount", "step": "100"}]},
    ]
    return {"name": BY_ACCOUNT, "conditions": {"any": parts}}


def tried_alerts(registry: httpx.Client, backtest: dict[str, Any], field: str, payee: str) -> dict[str, Any]:
    """By id, what was measured."""
    page = registry.get(f"{URL}/{backtest['backtestId']}/alerts", params={"limit": 100})
    items = page.raise_for_status().json()["items"]
    while following := page.links.get("next", {}).get("url"):
        page = registry.get(following).raise_for_status()
        items += page.json()["items"]
    return measured(alert for alert in items if alert["group"].get(field) == payee)


def measured(alerts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    names = ("value", "conditions", "contributors", "side")
    return {alert["alertId"]: [alert.get(name) for name in names] for alert in alerts}


def test_a_rule_tried_gives_what_it_gave_live(
    running_stack: RunningStack, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    with running_stack.registry() as registry, running_stack.alerts() as alerts:
        made = registry.post("/v1/rules", json=definition(NAME, limit=LIMIT)).raise_for_status().json()
        rule_id, first = made["ruleId"], made["effectiveFrom"]
        other = registry.post("/v1/rules", json=by_account()).raise_for_status().json()
        for rule in (made, other):
            eventually(partial(is_applied, running_stack, rule), "the rule is applied", SECONDS)
        with running_stack.generator() as generator:
            played = generator.post("/v1/scenarios/card-testing/plays").raise_for_status().json()
        payee, wanted = played["payeeId"], played["transactions"] - LIMIT
        eventually(lambda: len(alerts_of(running_stack, rule_id, payee)) == wanted, "its alerts", SECONDS)
        of_party = (other["ruleId"], payee, "account")
        eventually(lambda: len(alerts_of(running_stack, *of_party)) == wanted, "its alerts", SECONDS)
        live = measured(alerts_of(running_stack, rule_id, payee))
        live_of_party = measured(alerts_of(running_stack, *of_party))
        case = alerts.get("/v1/cases", params={"subject": f"payeeId:{payee}"}).raise_for_status().json()
        path = f"/v1/cases/{case['items'][0]['caseId']}/resolve"
        alerts.post(path, json={"outcome": "confirmed_fraud"}, headers={"If-Match": "*"}).raise_for_status()

        span = {"from": max(first, other["effectiveFrom"]), "to": int(time.time() * 1000) + HOUR}
        body = {**span, "rules": [{"ruleId": rule_id}, {"ruleId": other["ruleId"]}]}
        done = ended(registry, registry.post(URL, json=body).raise_for_status().json())
        assert done["state"] == "done", done["failure"]
        record_property("told", json.dumps(done["result"])[:500])
        assert tried_alerts(registry, done, "payeeId", payee) == live, "the very same alerts"
        assert tried_alerts(registry, done, "account", payee) == live_of_party
        by_live = {rule["beside"]["ruleId"]: rule for rule in done["result"]["rules"]}
        assert by_live[other["ruleId"]]["beside"]["onlyLive"] == 0
        rule = by_live[rule_id]
        assert rule["beside"]["both"] >= wanted
        assert rule["beside"]["onlyLive"] == 0
        assert rule["labelled"]["fraudFound"] == rule["labelled"]["fraud"] >= wanted
        assert (rule["labelled"]["precision"], rule["labelled"]["recall"]) == ("1.0000", "1.0000")

        draft_is_tried_by_the_command(running_stack, tmp_path, span, rule_id)
        every = registry.post(URL, json={**span, "allActive": True}).raise_for_status().json()
        stopped = registry.post(f"{URL}/{every['backtestId']}/cancel").raise_for_status().json()
        assert stopped["state"] in ("cancelled", "cancelling")
        assert ended(registry, every)["state"] == "cancelled"
        for identity in (rule_id, other["ruleId"]):
            tag = registry.get(f"/v1/rules/{identity}").raise_for_status().headers["ETag"]
            registry.delete(f"/v1/rules/{identity}", headers={"If-Match": tag}).raise_for_status()


def draft_is_tried_by_the_command(
    stack: RunningStack, folder: Path, span: dict[str, int], rule_id: int
) -> None:
    """Half of the limit: more alerts than the live rule gave, and all of those; fewer in a window of a second."""
    file, key = folder / "rule.yaml", folder / "key"
    file.write_text(json.dumps(definition("a draft", limit=LIMIT // 2)))
    key.write_text(stack.file["apiKeys"]["analyst"])
    key.chmod(0o600)
    words = ["backtest", str(file), "--from", rfc3339(span["from"]), "--to", rfc3339(span["to"])]
    to = ["--registry", stack.file["rulesRegistry"], "--key-file", str(key), "--beside", str(rule_id)]
    others = ["--limits", str(LIMIT), "--windows", "1,60"]
    result = CliRunner().invoke(main, [*words, *to, *others])
    assert result.exit_code == 0, result.output
    head, *rows = result.stdout.splitlines()[:5]
    assert head.split()[:3] == ["rule", "alerts", "groups"]
    columns = [re.split(r"  +", row) for row in rows]
    assert [name for name, *_ in columns] == ["a draft", f"a draft, limit {LIMIT}", "a draft, window 1 s",
                                              "a draft, window 1 min"]  # fmt: skip
    (both, only_tried, only_live), _, _, same = [[int(count) for count in row[4:7]] for row in columns]
    assert (both > 0, only_tried > 0, only_live) == (True, True, 0)
    as_written, as_live, narrow, wide = [int(row[1]) for row in columns]
    assert narrow < as_written == wide > as_live > 0
    assert same == [both, only_tried, only_live]
    result = CliRunner().invoke(main, [*words, *to, "--knowledge", "today"])
    assert result.exit_code == 0, result.output
    _, row, *_, last = result.stdout.splitlines()
    assert int(row[7:].split()[3]) > 0, "what both gave: the fraud came in order"
    assert last.endswith("as we know today")
