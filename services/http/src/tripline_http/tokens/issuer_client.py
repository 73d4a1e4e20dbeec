"""What an issuer publishes: its discovery document, and the keys that this names."""

from __future__ import annotations

import ssl
import time
from typing import Final

import httpx

from tripline_contracts import exact_json
from tripline_contracts.errors import InvalidJson
from tripline_http.errors import IssuerUnavailable
from tripline_http.tokens.issuer import is_trustworthy

TIMEOUT_SECONDS: Final = 3.0
_MAX_BYTES: Final = 262_144
_DISCOVERY: Final = "/.well-known/openid-configuration"


class IssuerClient:
    """Asks the issuer; certificates are verified by the machine's authorities (`SSL_CERT_FILE`)."""

    def __init__(self, issuer: str) -> None:
        self._issuer = issuer
        self._verify = ssl.create_default_context()

    def key_set(self) -> list[object]:
        """The entries of its JWKS. Raises IssuerUnavailable."""
        # A client for each time: it is asked every few minutes, and a connection would not live as long.
        with httpx.Client(timeout=TIMEOUT_SECONDS, verify=self._verify, trust_env=False) as client:
            discovered = _read(client, self._issuer.rstrip("/") + _DISCOVERY)
            if discovered.get("issuer") != self._issuer:
                raise IssuerUnavailable("its discovery document is another issuer's")
            address = discovered.get("jwks_uri")
            if not isinstance(address, str) or not is_trustworthy(address):
                raise IssuerUnavailable("its discovery document names no jwks_uri that can be trusted")
            keys = _read(client, address).get("keys")
        if not isinstance(keys, list):
            raise IssuerUnavailable("its key set is no list of keys")
        return keys


def _read(client: httpx.Client, url: str) -> dict[str, object]:
    until = time.monotonic() + TIMEOUT_SECONDS
    body = bytearray()
    try:
        with client.stream("GET", url, headers={"Accept": "application/json"}) as answer:
            if answer.status_code != httpx.codes.OK:
                raise IssuerUnavailable(f"{url} answered {answer.status_code}")
            for chunk in answer.iter_bytes():
                body += chunk
                if len(body) > _MAX_BYTES or time.monotonic() > until:
                    raise IssuerUnavailable(f"{url} answered too much, or too slowly")
        value = exact_json.loads(bytes(body))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise IssuerUnavailable(f"{url} does not answer: {type(error).__name__}") from error
    except InvalidJson as error:
        raise IssuerUnavailable(f"{url} answered no JSON") from error
    if not isinstance(value, dict):
        raise IssuerUnavailable(f"{url} answered no object")
    return value
