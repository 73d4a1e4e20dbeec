"""A session of the console without a browser."""

from __future__ import annotations

from collections.abc import Mapping
from http.cookies import SimpleCookie

import httpx

from alert_api.api.session_cookie import COOKIE, TOKEN_HEADER
from tests.integration.alert_api.support.api_process import LiveApi


def sign_in(api: LiveApi, key: str) -> Mapping[str, str]:
    """Signs in, and gives the headers that a browser and its page send then.

    A browser takes a `Secure` cookie from loopback over http; Python's cookie jar does not.
    """
    answer = httpx.post(f"{api.url}/v1/session", json={"key": key}, timeout=60, verify=False)
    assert answer.status_code == 201, answer.text
    cookie = SimpleCookie(answer.headers["Set-Cookie"])[COOKIE].value
    return {"Cookie": f"{COOKIE}={cookie}", TOKEN_HEADER: answer.json()["csrfToken"]}
