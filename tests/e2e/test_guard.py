"""`rules-registry guard` beside the running line: it asks once that a rule be paused, and an approver decides."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.traffic import tripped_rule
from tests.stack import RunningStack

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(400)]

COMMAND = str(Path(sys.executable).with_name("rules-registry"))


def look(stack: RunningStack, *options: str) -> str:
    """What one look tells."""
    settings = {
        "TRIPLINE_REGISTRY_URL": stack.file["rulesRegistry"],
        "TRIPLINE_ALERTS_URL": stack.file["alertApi"],
        "TRIPLINE_REGISTRY_KEY": stack.file["apiKeys"]["analyst"],
    }
    looked = subprocess.run(
        [COMMAND, "guard", "--once", "--least", "1", *options],
        env={**os.environ, **settings}, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    return looked.stdout


def test_a_first_version_that_alerts_too_often(running_stack: RunningStack) -> None:
    with tripped_rule(running_stack, "Guarded: many payments by one payer", paused=False) as tripped:
        rule_id = tripped.rule["ruleId"]
        assert f"Rule {rule_id}" not in look(running_stack, "--first", "1000000")
        told = look(running_stack, "--first", "1")
        reason = (
            f"Version 1 alerted {len(tripped.alerts)} times within an hour; 1 are allowed to a first version."
        )
        (line,) = [line for line in told.splitlines() if line.startswith(f"Rule {rule_id}:")]
        assert reason in line
        with running_stack.registry("approver") as approver:
            query = {"state": "SUBMITTED", "kind": "rule", "subject": str(rule_id)}
            (change,) = approver.get("/v1/changes", params=query).raise_for_status().json()["items"]
            assert (change["kind"], change["reason"]) == ("PAUSE_RULE", reason)
            # asked once
            assert f"Rule {rule_id}:" not in look(running_stack, "--first", "1")
            body = {"contentHash": change["contentHash"]}
            approver.post(f"/v1/changes/{change['changeId']}/approve", json=body).raise_for_status()
            assert approver.get(f"/v1/rules/{rule_id}").json()["state"] == "PAUSED"
