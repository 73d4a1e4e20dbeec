"""The prover, asked over HTTP with its key."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

import httpx

from alert_api.errors import ProofRefused, ProverBusy, ProverUnavailable
from alert_api.service.proofs import Of

_SECONDS: Final = 150.0
"""A proof takes 60 s at most unless the prover is set otherwise."""
_AT_ONCE: Final = 2
"""Questions under way: the prover takes one after the other, and each holds a thread here meanwhile."""
_NO_PROOF: Final = ("history-missing", "too-much", "nothing-there", "unreadable")


class HttpProver:
    """One prover at one address; safe to share between threads."""

    def __init__(self, url: str, key: str, transport: httpx.BaseTransport | None = None) -> None:
        # trust_env off: an address that the operator gave is not to be reached by way of somebody's proxy
        self._client = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(_SECONDS, connect=1.0),
            trust_env=False,
            transport=transport,
        )
        self._free = threading.BoundedSemaphore(_AT_ONCE)

    def verify(self, alert: Mapping[str, Any]) -> dict[str, Any]:
        """The outcome of deriving the alert again, with the differences."""
        return self._ask("/v1/verifications", {"alert": alert})

    def window(
        self, alert: Mapping[str, Any], condition: int, of: Of, after: int, limit: int
    ) -> dict[str, Any]:
        """A page of the contributors of one condition, or of its limit."""
        return self._ask(
            "/v1/windows", {"alert": alert, "condition": condition, "of": of, "after": after, "limit": limit}
        )

    def judge(self, transaction_id: str, event_time: int | None) -> dict[str, Any]:
        """What each rule made of a transaction."""
        return self._ask("/v1/judgements", {"transactionId": transaction_id, "eventTime": event_time})

    def close(self) -> None:
        """Free the connections."""
        self._client.close()

    def _ask(self, path: str, question: Mapping[str, Any]) -> dict[str, Any]:
        if not self._free.acquire(blocking=False):
            raise ProverBusy("as many proofs as may be at once are under way")
        try:
            answer = self._client.post(path, content=json.dumps(question).encode())
            body = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise ProverUnavailable(f"it does not answer: {type(error).__name__}") from error
        finally:
            self._free.release()
        if answer.status_code == HTTPStatus.OK and isinstance(body, dict):
            return body
        raise _refusal(answer.status_code, body if isinstance(body, dict) else {})


def _refusal(status: int, body: Mapping[str, Any]) -> Exception:
    reason, detail = str(body.get("reason")), str(body.get("detail"))
    if reason in _NO_PROOF:
        return ProofRefused(reason, detail)
    if reason == "busy":
        return ProverBusy(detail)
    return ProverUnavailable(f"it answers {status}: {detail}")
