"""Positive cases of schemathesis for `/v1/snoozes`: an end that has not come, and a snooze in a state that lets it be
done, asked for by somebody else."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

SUBJECT_FIELD = "payeeId"
ANY_VERSION = {"If-Match": "*"}


class SnoozeSupply:
    """`second` are the headers of whoever asks for the snoozes that are decided on."""

    def __init__(self, client: httpx.Client, second: Mapping[str, str]) -> None:
        self._client = client
        self._second = second

    def fill(self, case: Any, turn: int) -> None:
        stateful = case.meta.phase.name.value == "stateful"
        if "Idempotency-Key" in (case.headers or {}):
            # one that was used for something else before would be refused
            case.headers["Idempotency-Key"] = str(uuid.uuid4())
        if (case.query or {}).get("cursor") is not None:
            query = {name: value for name, value in case.query.items() if name != "cursor"}
            link = self._client.get(case.path, params={**query, "limit": 1}).links.get("next")
            case.query = {**query, "cursor": httpx.URL(link["url"]).params["cursor"]} if link else query
        if "snooze_id" not in (case.path_parameters or {}):
            if case.method.upper() == "POST" and isinstance(case.body, dict):
                self._make_possible(case.body)
            return
        if stateful or turn % 4 == 0:
            return
        snooze = self._asked_for()
        case.path_parameters["snooze_id"] = snooze["snoozeId"]
        if case.method.upper() == "POST":
            case.headers = {**(case.headers or {}), **ANY_VERSION}
        if isinstance(case.body, dict) and "contentHash" in case.body:
            case.body["contentHash"] = snooze["contentHash"]

    def _make_possible(self, body: dict[str, Any]) -> None:
        body["until"] = in_a_day()
        if "subject" in body:
            body["subject"]["field"] = SUBJECT_FIELD

    def _asked_for(self) -> dict[str, Any]:
        """A new one: each takes one decision."""
        body = {"ruleId": 1, "until": in_a_day(), "reason": "to be decided on"}
        answer = self._client.post("/v1/snoozes", json=body, headers=dict(self._second))
        snooze: dict[str, Any] = answer.raise_for_status().json()
        return snooze


def in_a_day() -> str:
    """A day from now."""
    return (datetime.fromtimestamp(int(time.time()), UTC) + timedelta(days=1)).isoformat()
