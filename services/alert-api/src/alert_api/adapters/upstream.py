"""Other services that the console needs, reached from here: a browser is allowed this origin only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import httpx

from alert_api.errors import UpstreamUnavailable

PASSED_ON: Final = ("content-type", "etag", "link", "location", "retry-after", "www-authenticate")
MAX_ANSWER_BYTES: Final = 4 << 20


@dataclass(frozen=True, slots=True)
class Question:
    """A request to hand on; `path` begins with a slash."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] | None = None
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The other service's answer, to be handed on as it is."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Upstream:
    """One service at one address, over a pool of connections; safe to share between threads."""

    def __init__(self, title: str, base_url: str, transport: httpx.BaseTransport | None = None) -> None:
        """`title` begins sentences about it ("The rules registry")."""
        self._title = title
        timeout = httpx.Timeout(5.0, connect=1.0)
        # trust_env off: an address that the operator gave is not to be reached by way of somebody's proxy.
        self._client = httpx.Client(base_url=base_url, timeout=timeout, trust_env=False, transport=transport)

    def ask(self, question: Question) -> Answer:
        """Raises UpstreamUnavailable when there is no answer in time, or too much of one."""
        try:
            answer = self._asked(question)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UpstreamUnavailable(self._title, f"does not answer: {type(error).__name__}") from error
        if len(answer.content) > MAX_ANSWER_BYTES:
            raise UpstreamUnavailable(self._title, "answered more than can be handed on")
        passed_on = {key: answer.headers[key] for key in PASSED_ON if key in answer.headers}
        return Answer(answer.status_code, passed_on, answer.content)

    def _asked(self, question: Question) -> httpx.Response:
        request = self._client.build_request(
            question.method,
            question.path,
            params=list(question.query),
            headers={"Accept": "application/json", **(question.headers or {})},
            content=question.body,
        )
        try:
            return self._client.send(request)
        except (httpx.RemoteProtocolError, httpx.ReadError):
            if question.method != "GET":
                raise
            # A connection that was kept may be closed over there just as it is used again.
            return self._client.send(request)

    def close(self) -> None:
        """Free the connections."""
        self._client.close()
