"""EXPORT_RULES_CURRENT through the whole line: every shard holds what the registry has published."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.support.waiting import eventually
from tests.registry import DEFINITION
from tests.stack import RunningStack

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_registry_and_engine_hold_the_same_rules(running_stack: RunningStack) -> None:
    with running_stack.registry() as registry, running_stack.registry("ops") as operator:

        def post(path: str, **request: Any) -> dict[str, Any]:
            answer: dict[str, Any] = registry.post(path, **request).raise_for_status().json()
            return answer

        def export() -> dict[str, Any]:
            export: dict[str, Any] = registry.get(f"/v1/control-commands/{command['commandId']}").json()[
                "export"
            ]
            return export

        lines = (
            "(900001),(active),(payeeId),(),(COUNT_FLINK),(SUM),(>),(1000),(1)\n"
            "(900002),(pause),(paymentType),(),(paymentAmount),(SUM),(>),(1000),(1)\n"
            "(900003),(active),(),(),(COUNT_FLINK),(SUM),(>),(1000000),(1)\n"
            "900003,delete\n"
        )
        kept = post("/v1/rules", json=dict(DEFINITION))["ruleId"]
        imported = post("/v1/rules/import", content=lines, headers={"Content-Type": "text/plain"})
        assert imported["applied"] == 4
        asked = operator.post("/v1/control-commands", json={"command": "EXPORT_RULES_CURRENT"})
        command = asked.raise_for_status().json()
        eventually(lambda: export()["complete"], "every shard has answered")
        current = export()
        assert current["equal"] is True, current
        assert len(current["answers"]) == current["shards"]
        for answer in current["answers"]:
            states = {rule["ruleId"]: rule["state"] for rule in answer["rules"]}
            assert (states[900001], states[900002], states[kept]) == ("ACTIVE", "PAUSED", "ACTIVE")
            assert 900003 not in states
        for rule_id in (kept, 900001, 900002):
            registry.delete(f"/v1/rules/{rule_id}", headers={"If-Match": "*"}).raise_for_status()
