"""A rule that is live, and tried over the same span: on the real line, through the registry, the prover and Kafka."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
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


def tried_alerts(registry: httpx.Client, backtest: dict[str, Any], payee: str) -> set[str]:
    page = registry.get(f"{URL}/{backtest['backtestId']}/alerts", params={"limit": 100})
    items = page.raise_for_status().json()["items"]
    while following := page.links.get("next", {}).get("url"):
        page = registry.get(following).raise_for_status()
        items += page.json()["items"]
    return {alert["alertId"] for alert in items if alert["group"]["payeeId"] == payee}


def test_a_rule_tried_gives_what_it_gave_live(
    running_stack: RunningStack, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    with running_stack.registry() as registry, running_stack.alerts() as alerts:
        made = registry.post("/v1/rules", json=definition(NAME, limit=LIMIT)).raise_for_status().json()
        rule_id, first = made["ruleId"], made["effectiveFrom"]
        eventually(lambda: is_applied(running_stack, made), "the rule is applied", SECONDS)
        with running_stack.generator() as generator:
            played = generator.post("/v1/scenarios/card-testing/plays").raise_for_status().json()
        payee, wanted = played["payeeId"], played["transactions"] - LIMIT
        eventually(lambda: len(alerts_of(running_stack, rule_id, payee)) == wanted, "its alerts", SECONDS)
        live = {alert["alertId"] for alert in alerts_of(running_stack, rule_id, payee)}
        case = alerts.get("/v1/cases", params={"subject": f"payeeId:{payee}"}).raise_for_status().json()
        path = f"/v1/cases/{case['items'][0]['caseId']}/resolve"
        alerts.post(path, json={"outcome": "confirmed_fraud"}, headers={"If-Match": "*"}).raise_for_status()

        span = {"from": first, "to": int(time.time() * 1000) + HOUR}
        body = {**span, "rules": [{"ruleId": rule_id}]}
        done = ended(registry, registry.post(URL, json=body).raise_for_status().json())
        assert done["state"] == "done", done["failure"]
        [rule] = done["result"]["rules"]
        record_property("told", json.dumps(done["result"])[:500])
        assert tried_alerts(registry, done, payee) == live, "the very same alerts, by id"
        assert rule["beside"]["both"] >= wanted
        assert rule["beside"]["onlyLive"] == 0
        assert rule["labelled"]["fraudFound"] == rule["labelled"]["fraud"] >= wanted
        assert (rule["labelled"]["precision"], rule["labelled"]["recall"]) == ("1.0000", "1.0000")

        draft_is_tried_by_the_command(running_stack, tmp_path, span, rule_id)
        every = registry.post(URL, json={**span, "allActive": True}).raise_for_status().json()
        stopped = registry.post(f"{URL}/{every['backtestId']}/cancel").raise_for_status().json()
        assert stopped["state"] in ("cancelled", "cancelling")
        before = time.monotonic()
        assert ended(registry, every)["state"] == "cancelled"
        assert time.monotonic() - before < 10
        tag = registry.get(f"/v1/rules/{rule_id}").raise_for_status().headers["ETag"]
        registry.delete(f"/v1/rules/{rule_id}", headers={"If-Match": tag}).raise_for_status()


def draft_is_tried_by_the_command(
    stack: RunningStack, folder: Path, span: dict[str, int], rule_id: int
) -> None:
    """Half of the limit: more alerts than the live rule gave, and all of those."""
    file, key = folder / "rule.yaml", folder / "key"
    file.write_text(json.dumps(definition("a draft", limit=LIMIT // 2)))
    key.write_text(stack.file["apiKeys"]["analyst"])
    key.chmod(0o600)
    words = ["backtest", str(file), "--from", rfc3339(span["from"]), "--to", rfc3339(span["to"])]
    to = ["--registry", stack.file["rulesRegistry"], "--key-file", str(key), "--beside", str(rule_id)]
    result = CliRunner().invoke(main, [*words, *to])
    assert result.exit_code == 0, result.output
    head, row = result.stdout.splitlines()[:2]
    assert head.split()[:3] == ["rule", "alerts", "groups"]
    name, numbers = row[:7], [int(number) for number in row[7:].split()[3:6]]
    both, only_tried, only_live = numbers
    assert (name, both > 0, only_tried > 0, only_live) == ("a draft", True, True, 0)
