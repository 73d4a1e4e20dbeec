"""The two readings of the rules registry that the console needs, asked with the caller's own key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from alert_api.errors import RegistryUnavailable

PATHS = {"rules": "/v1/rules", "rule-status": "/v1/rule-status"}
PASSED_ON = ("content-type", "link", "www-authenticate", "retry-after")
MAX_ANSWER_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What the registry said, to be handed on as it is."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class RegistryReader:
    """Asks over a pool of connections; safe to share between threads."""

    def __init__(self, base_url: str, transport: httpx.BaseTransport | None = None) -> None:
        timeout = httpx.Timeout(3.0, connect=1.0)
        # trust_env off: an address that the operator gave is not to be reached by way of somebody's proxy.
        self._client = httpx.Client(base_url=base_url, timeout=timeout, trust_env=False, transport=transport)

    def read(self, name: str, query: Mapping[str, str], authorization: str) -> Answer:
        """`name` is a key of PATHS. Raises RegistryUnavailable when there is no answer in time."""
        headers = {"Authorization": authorization, "Accept": "application/json"}
        try:
            answer = self._client.get(PATHS[name], params=dict(query), headers=headers)
        except httpx.HTTPError as error:
            raise RegistryUnavailable(
                f"the rules registry does not answer: {type(error).__name__}"
            ) from error
        if len(answer.content) > MAX_ANSWER_BYTES:
            raise RegistryUnavailable("the rules registry answered more than can be handed on")
        passed_on = {key: answer.headers[key] for key in PASSED_ON if key in answer.headers}
        return Answer(answer.status_code, passed_on, answer.content)

    def close(self) -> None:
        """Free the connections."""
        self._client.close()
