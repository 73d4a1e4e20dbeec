"""Positive cases of schemathesis for `/v1/cases`: they point at one that is there, in a state that lets it be done."""

from __future__ import annotations

import uuid
from typing import Any

import httpx

RESOLVED = {"outcome": "inconclusive"}
ANY_VERSION = {"If-Match": "*"}


class CaseSupply:
    """Makes three of four point at a case that is there; the fourth stays a guess."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        self._ids: list[int] = []
        self._alerts: list[tuple[str, int]] = []

    def fill(self, case: Any, turn: int) -> None:
        stateful = case.meta.phase.name.value == "stateful"
        if "Idempotency-Key" in (case.headers or {}):
            # one that was used for something else before would be refused
            case.headers["Idempotency-Key"] = str(uuid.uuid4())
        if "case_id" in (case.path_parameters or {}) and turn % 4 and not stateful:
            case.path_parameters["case_id"] = self._known()[turn % len(self._known())]
        if (case.query or {}).get("cursor") is not None:
            self._give_cursor(case)
        if case.method.upper() != "POST" or turn % 4 == 0:
            return
        if "alert_id" in (case.path_parameters or {}):
            self._alert(case, turn)
        elif case.path.endswith("/bulk"):
            self._for_all(case)
        elif "case_id" in (case.path_parameters or {}):
            self._prepare(case.path_parameters["case_id"], is_resolved=case.path.endswith("/reopen"))
            case.headers = {**(case.headers or {}), **ANY_VERSION}
            case.headers.pop("Idempotency-Key", None)

    def _known(self) -> list[int]:
        if not self._ids:
            answer = self._client.get("/v1/cases", params={"limit": 100}).raise_for_status()
            self._ids = [item["caseId"] for item in answer.json()["items"]]
        return self._ids

    def _alert(self, case: Any, turn: int) -> None:
        """An alert whose case is in a state that lets it be done."""
        if not self._alerts:
            items = self._client.get("/v1/alerts", params={"limit": 100}).raise_for_status().json()["items"]
            self._alerts = [(item["alertId"], item["caseId"]) for item in items if item["caseId"]]
        case.path_parameters["alert_id"], case_id = self._alerts[turn % len(self._alerts)]
        self._prepare(case_id, is_resolved=case.path.endswith("/reopen"))
        case.headers = {**(case.headers or {}), **ANY_VERSION}
        case.headers.pop("Idempotency-Key", None)

    def _for_all(self, case: Any) -> None:
        """Of all cases, none of which is in anybody's hands."""
        for case_id in self._known():
            self._prepare(case_id, is_resolved=False)
        case.query = {}
        if isinstance(case.body, dict):
            case.body = {**case.body, "expected": len(self._known())}

    def _prepare(self, case_id: int, *, is_resolved: bool) -> None:
        self._client.post(f"/v1/cases/{case_id}/resolve", json=RESOLVED, headers=ANY_VERSION)
        if not is_resolved:
            self._client.post(f"/v1/cases/{case_id}/reopen", json={}, headers=ANY_VERSION)

    def _give_cursor(self, case: Any) -> None:
        """A real one of these filters, or none where there is no next page."""
        query = {name: value for name, value in case.query.items() if name != "cursor"}
        path = case.path.format(**(case.path_parameters or {}))
        link = self._client.get(path, params={**query, "limit": 1}).links.get("next")
        case.query = {**query, "cursor": httpx.URL(link["url"]).params["cursor"]} if link else query
