"""Positive cases of schemathesis for `/v1/webhooks`: a host that may be, and a webhook that is there, asked for by
somebody else."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Final

import httpx

HOST: Final = "hooks.example"


class WebhookSupply:
    """`second` are the headers of whoever asks for the webhooks that are approved."""

    def __init__(self, client: httpx.Client, second: Mapping[str, str]) -> None:
        self._client, self._second = client, second
        self._names = itertools.count()

    def fill(self, case: Any, turn: int) -> None:
        query = case.query or {}
        if query.get("cursor") is not None:
            case.query = {name: value for name, value in query.items() if name != "cursor"}
        if isinstance(case.body, dict) and "url" in case.body:
            case.body["url"] = f"https://{HOST}/"
            case.body["name"] = f"made {next(self._names)}"
        if "webhook_id" not in (case.path_parameters or {}) or turn % 4 == 0:
            return
        webhook = self._there()
        case.path_parameters["webhook_id"] = webhook["webhookId"]
        if case.method.upper() == "PUT" or case.path.endswith("/rotate"):
            case.headers = {**(case.headers or {}), "If-Match": "*"}
        if case.path.endswith("/test"):
            approval = {"contentHash": webhook["contentHash"]}
            self._client.post(
                f"/v1/webhooks/{webhook['webhookId']}/approve", json=approval
            ).raise_for_status()
            self._client.post(f"/v1/webhooks/{webhook['webhookId']}/resume").raise_for_status()
        if isinstance(case.body, dict) and "contentHash" in case.body:
            case.body["contentHash"] = webhook["contentHash"]

    def _there(self) -> dict[str, Any]:
        """One that somebody else asked for; a new one where there is none, and room for it where there are many."""
        webhooks: list[dict[str, Any]] = self._client.get("/v1/webhooks").raise_for_status().json()["items"]
        for webhook in webhooks[10:]:
            self._client.delete(f"/v1/webhooks/{webhook['webhookId']}")
        others = [webhook for webhook in webhooks[:10] if webhook["requestedBy"] == "bob"]
        if others:
            return others[0]
        body = {"name": f"to be approved {next(self._names)}", "url": f"https://{HOST}/"}
        answer = self._client.post("/v1/webhooks", json=body, headers=dict(self._second))
        made: dict[str, Any] = answer.raise_for_status().json()
        return made
