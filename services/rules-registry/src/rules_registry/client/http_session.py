"""Requests to the registry's API, and its refusals as errors."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import httpx

from rules_registry.client.client_settings import ClientSettings
from rules_registry.client.errors import RegistryUnreachable, RequestRefused
from tripline_contracts import exact_json
from tripline_contracts.errors import InvalidJson

TIMEOUT: Final = httpx.Timeout(30.0, connect=5.0)
TRIES: Final = 3
WAITS: Final = 20
"""How often it waits where it was too fast (429) before it says so."""
MAX_WAIT_SECONDS: Final = 10.0
PAGE: Final = 100


class HttpSession:
    """One connection, used by one thread."""

    def __init__(
        self,
        settings: ClientSettings,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`transport` takes the place of the network in tests, `sleep` that of time."""
        secured = settings.url.startswith("https:")
        self._url, self._sleep = settings.url, sleep
        self._client = httpx.Client(
            base_url=settings.url,
            headers={"Authorization": f"Bearer {settings.key}", "Accept": "application/json"},
            timeout=TIMEOUT,
            # The machine's authorities (SSL_CERT_FILE). They take longer to load than any call: only where needed.
            verify=ssl.create_default_context() if secured else False,
            # An address that was given is not to be reached by way of a proxy that happens to be set.
            trust_env=False,
            transport=transport,
        )

    def close(self) -> None:
        """Frees the connection."""
        self._client.close()

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """The JSON of an answer. Raises RequestRefused and RegistryUnreachable."""
        return self._json(self._send("GET", path, query or {}, {}, None))

    def items(self, path: str, query: Mapping[str, str] | None = None) -> Iterator[Mapping[str, Any]]:
        """The items of a listing, over all of its pages."""
        answer = self._send("GET", path, {"limit": str(PAGE), **(query or {})}, {}, None)
        while True:
            items = self._json(answer).get("items")
            if not isinstance(items, list):
                raise self._foreign()
            yield from items
            following = answer.links.get("next", {}).get("url")
            if not following:
                return
            answer = self._send("GET", following, None, {}, None)

    def change(
        self,
        method: str,
        path: str,
        *,
        reason: str | None = None,
        version: int | None = None,
        key: str | None = None,
        query: Mapping[str, str] | None = None,
        body: object = None,
    ) -> tuple[int, Any]:
        """Status and JSON of a request that changes something: of `version` alone, and once under one `key`."""
        headers = {} if version is None else {"If-Match": f'"{version}"'}
        if key is not None:
            headers["Idempotency-Key"] = key
        query = {**(query or {}), **({} if reason is None else {"reason": reason})}
        answer = self._send(method, path, query, headers, body)
        return answer.status_code, self._json(answer)

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        headers: Mapping[str, str],
        body: object,
    ) -> httpx.Response:
        # Whatever else is sent twice could be refused the second time, because it was done the first time.
        repeatable = method == "GET" or "Idempotency-Key" in headers
        broken, waits = 0, 0
        while True:
            try:
                answer = self._client.request(method, path, params=query, headers=headers, json=body)
            except httpx.TransportError as error:
                broken += 1
                if broken == TRIES or not repeatable:
                    raise RegistryUnreachable(
                        f"{self._url} gave no answer to {method} {path}: {type(error).__name__}: {error}."
                    ) from error
                continue
            if answer.status_code != httpx.codes.TOO_MANY_REQUESTS or waits == WAITS:
                return self._checked(answer)
            # Nothing was done: this may be sent again, whatever it is.
            waits += 1
            self._sleep(_seconds(answer))

    def _checked(self, answer: httpx.Response) -> httpx.Response:
        if answer.is_success:
            return answer
        problem = self._json(answer) if "json" in answer.headers.get("Content-Type", "") else {}
        fields = [f"{error['field']}: {error['message']}" for error in problem.get("errors", [])]
        kind = str(problem.get("type", "")).rpartition(":")[2].replace("blank", "")
        detail = (
            problem.get("detail") or f"{self._url} answered {answer.request.method} {answer.request.url.path}"
        )
        raise RequestRefused(answer.status_code, kind, detail, fields, problem.get("changeId"))

    def _json(self, answer: httpx.Response) -> Any:
        try:
            value = exact_json.loads(answer.content)
        except InvalidJson as error:
            raise self._foreign() from error
        if not isinstance(value, dict):
            raise self._foreign()
        return value

    def _foreign(self) -> RegistryUnreachable:
        return RegistryUnreachable(
            f"{self._url} answered something else than its API says: is it a registry?"
        )


def _seconds(answer: httpx.Response) -> float:
    """How long to wait."""
    text = answer.headers.get("Retry-After", "")
    return min(float(text), MAX_WAIT_SECONDS) if text.isascii() and text.isdigit() else 1.0
