"""Requests to webhooks: to an address that was looked at, under the name that it has, and nowhere else.

The name is resolved once. What is connected to is that address, so a name that means another one a moment later changes
nothing; certificate, SNI and `Host` are the name's. Redirects are not followed, and of an answer nothing is read but
its status and headers.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Final

import httpx

from alert_api.domain.webhooks.message import Message
from alert_api.domain.webhooks.reach import Reach
from alert_api.domain.webhooks.signature import Secrets, signed_headers
from alert_api.service.webhooks.deliverer import Answer

TIMEOUT: Final = httpx.Timeout(10.0, connect=5.0)
MAX_ERROR: Final = 300
_NUMBER: Final = re.compile(r"\[Errno -?\d+\] ")

Resolve = Callable[[str, int], Sequence[str]]


def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a name. Raises OSError."""
    return [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class HttpWebhookSender:
    """``Sender`` for all webhooks; a connection for each request."""

    def __init__(
        self,
        reach: Reach,
        seconds: Callable[[], int],
        look_up: Resolve = resolve,
        timeout: httpx.Timeout = TIMEOUT,
        verify: ssl.SSLContext | bool = True,
    ) -> None:
        self._reach, self._seconds, self._look_up, self._timeout = reach, seconds, look_up, timeout
        self._verify = verify

    def post(self, url: str, secrets: Secrets, message: Message) -> Answer:
        """What came of it; raises nothing."""
        refused = self._reach.refuses_url(url)
        if refused is not None:
            return Answer(None, refused)
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL as error:
            return Answer(None, str(error)[:MAX_ERROR])
        host = parsed.raw_host.decode("ascii")
        if host not in self._reach.hosts:
            # Two readings of one URL: what was allowed is not what would be connected to.
            return Answer(None, f"{host} is no host that TRIPLINE_WEBHOOK_HOSTS names"[:MAX_ERROR])
        port = parsed.port or (443 if parsed.scheme == "https" else 80)
        try:
            addresses = self._look_up(host, port)
        except (OSError, UnicodeError) as error:
            return Answer(None, f"{host} has no address: {_said(error)}"[:MAX_ERROR])
        # One that is refused spoils all: a name that means an inside and an outside is not to be trusted.
        for address in addresses:
            refused = self._reach.refuses_address(address)
            if refused is not None:
                return Answer(None, refused)
        if not addresses:
            return Answer(None, f"{host} has no address")
        return self._request(parsed, addresses[0], secrets, message)

    def _request(self, url: httpx.URL, address: str, secrets: Secrets, message: Message) -> Answer:
        seconds = self._seconds()
        former = secrets.former_at(seconds * 1000)
        headers = {
            "host": url.netloc.decode(),
            "content-type": message.media_type,
            "user-agent": "Tripline-Webhook/1",
            **signed_headers(secrets.current, message.id, seconds, message.body, former),
        }
        try:
            with (
                httpx.Client(
                    timeout=self._timeout, follow_redirects=False, trust_env=False, verify=self._verify
                ) as client,
                client.stream(
                    "POST",
                    url.copy_with(host=address),
                    content=message.body,
                    headers=headers,
                    extensions={"sni_hostname": url.raw_host.decode("ascii")},
                ) as response,
            ):
                return Answer(response.status_code)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            return Answer(None, _said(error)[:MAX_ERROR])


def _said(error: Exception) -> str:
    """What it says, without the system's number, which tells nobody anything."""
    return _NUMBER.sub("", str(error)) or type(error).__name__
