"""Publishes the rules and their changes as anybody would: over the registry's HTTP API."""

from __future__ import annotations

import time
from decimal import Decimal
from types import TracebackType
from typing import Self

import httpx

from bench.harness.stack import BenchFailed
from bench.workload.rules import Subject


class Registry:
    """Knows each rule's ETag.

    :ivar asked_at: when the request for a version was sent, in seconds of the monotonic clock, by rule id and version
    """

    def __init__(self, url: str, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=30, trust_env=False)
        self._etags: dict[int, str] = {}
        self.asked_at: dict[tuple[int, int], float] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def publish(self, subject: Subject, limit: Decimal, effective_from: int) -> None:
        """The rule's first or next version. Raises BenchFailed."""
        body, asked_at = subject.body(limit, effective_from), time.monotonic()
        etag = self._etags.get(subject.rule_id)
        if etag is None:
            answer = self._client.post("/v1/rules", json=body)
        else:
            answer = self._client.put(f"/v1/rules/{subject.rule_id}", json=body, headers={"If-Match": etag})
        if answer.is_error:
            raise BenchFailed(f"the registry answered {answer.status_code}: {answer.text[:300]}")
        rule = answer.json()
        if rule["ruleId"] != subject.rule_id:
            raise BenchFailed(f"the registry's ids begin with {rule['ruleId']}: it isn't empty")
        self._etags[subject.rule_id] = answer.headers["ETag"]
        self.asked_at[subject.rule_id, rule["version"]] = asked_at
