"""Requests that publish a rule."""

from __future__ import annotations

from typing import Any

import httpx

from tests.registry import DEFINITION


def publish(client: httpx.Client, **changes: Any) -> dict[str, Any]:
    answer = client.post("/v1/rules", json={**DEFINITION, **changes})
    assert answer.status_code == 201, answer.text
    rule: dict[str, Any] = answer.json()
    # all else is what a read answers
    del rule["warnings"]
    return rule
