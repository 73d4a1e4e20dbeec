"""A browser that signs in to an alert API with nothing behind it but what a test puts there."""

from __future__ import annotations

from typing import Final

import httpx
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.adapters.upstream import Upstream
from alert_api.api.console_data import Line
from alert_api.api.session_cookie import COOKIE, TOKEN_HEADER
from alert_api.service.sessions import SessionDesk
from tests.unit.alert_api.support.fake_sessions import FakeSessions
from tests.unit.alert_api.support.samples import app, key
from tripline_http.keys.key_file import ApiKey

ADA, AS_ADA = key("ada", "alerts:read", "alerts:ack", "rules:read")
SECRET: Final = "secret key of ada"
NOW: Final = 4_000_000_000_000
"""Far from now: what is told by a key's own end is told by another clock."""
ENDED: Final = "urn:tripline:problem:session-ended"
CSRF: Final = "urn:tripline:problem:csrf-token"


class Console:
    """An alert API, and a browser that is signed in there or not."""

    def __init__(self, *keys: ApiKey) -> None:
        self.keys = list(keys or (ADA,))
        self.store, self.now = FakeSessions(), NOW
        self.asked: list[httpx.Request] = []
        line = Line(Upstream("The rules registry", "http://registry", httpx.MockTransport(self._registry)))
        desk = SessionDesk(self.store, FernetSeal(), lambda: self.now)
        self.app: Flask = app(keys=self.keys, line=line, sessions=desk)
        self.browser: FlaskClient = self.app.test_client()
        self.token = ""

    def _registry(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        return httpx.Response(200, json={"items": []})

    def sign_in(self, secret: str = SECRET, **headers: str) -> TestResponse:
        answer = self.browser.post("/v1/session", json={"key": secret}, headers=headers)
        if answer.status_code == 201:
            self.token = answer.get_json()["csrfToken"]
        return answer

    def ask(self, path: str = "/v1/alerts", method: str = "GET", **headers: str) -> TestResponse:
        """As the console's page does."""
        return self.browser.open(path, method=method, headers={TOKEN_HEADER: self.token, **headers})

    def ask_with(self, cookie: str | None, token: str = "x") -> TestResponse:
        """As a browser that has this cookie."""
        client = self.app.test_client(use_cookies=False)
        return client.get("/v1/alerts", headers={"Cookie": f"{COOKIE}={cookie}", TOKEN_HEADER: token})

    @property
    def cookie(self) -> str | None:
        cookie = self.browser.get_cookie(COOKIE)
        return None if cookie is None else cookie.value


def kind(answer: TestResponse) -> tuple[int, str | None]:
    """Status and type of a problem."""
    assert answer.content_type == "application/problem+json"
    return answer.status_code, answer.get_json()["type"]
