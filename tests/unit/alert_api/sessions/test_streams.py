"""An open stream of alerts ends when its key is revoked, or its session is signed out."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from alert_api.adapters.fernet_seal import FernetSeal
from alert_api.api import stream
from alert_api.api.application import Streaming
from alert_api.api.session_cookie import TOKEN_HEADER
from alert_api.errors import StoreUnavailable
from alert_api.service.alert_stream import StreamTiming
from alert_api.service.sessions import SessionDesk
from tests.unit.alert_api.support.fake_sessions import FakeSessions
from tests.unit.alert_api.support.samples import FakeOverview, app, key
from tripline_http.keys.key_file import ApiKey

ADA, AS_ADA = key("ada", "alerts:read")


class Service:
    """An alert API whose streams look at their key with every poll, and send a sign of life with every one."""

    def __init__(self) -> None:
        self.keys: list[ApiKey] = [ADA]
        self.store, self.now = FakeSessions(), 0
        self.stopped = threading.Event()
        streaming = Streaming(self.stopped, StreamTiming(look=0.001, silence=0.0))
        desk = SessionDesk(self.store, FernetSeal(), lambda: self.now)
        self.client: FlaskClient = app(
            overview=FakeOverview(), keys=self.keys, streaming=streaming, sessions=desk
        ).test_client()

    def session(self) -> dict[str, str]:
        body = self.client.post("/v1/session", json={"key": "secret key of ada"}).get_json()
        return {TOKEN_HEADER: body["csrfToken"]}

    def open(self, headers: dict[str, str]) -> Iterator[bytes]:
        answer = self.client.get("/v1/alerts/stream", headers=headers, buffered=False)
        assert answer.status_code == 200
        chunks: Iterator[bytes] = answer.iter_encoded()
        assert b"retry" in next(chunks)
        return chunks


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr(stream, "RECHECK_SECONDS", 0.0)
    service = Service()
    yield service
    service.stopped.set()


@pytest.mark.parametrize("by_session", [False, True], ids=["key", "session"])
def test_a_revoked_key_ends_its_streams(service: Service, by_session: bool) -> None:
    chunks = service.open(service.session() if by_session else AS_ADA)
    assert b"alive" in next(chunks)
    service.keys.clear()
    assert list(chunks) == []


def test_a_key_that_lost_its_scope_ends_its_streams(service: Service) -> None:
    chunks = service.open(AS_ADA)
    service.keys[:] = [key("ada", "rules:read")[0]]
    assert list(chunks) == []


def test_signing_out_ends_the_streams_of_the_session(service: Service) -> None:
    headers = service.session()
    chunks = service.open(headers)
    assert b"alive" in next(chunks)
    assert service.client.delete("/v1/session", headers=headers).status_code == 204
    assert list(chunks) == []


def test_what_cannot_be_told_ends_no_stream(service: Service) -> None:
    chunks = service.open(service.session())
    service.store.broken = StoreUnavailable("away")
    for _ in range(3):
        assert b"alive" in next(chunks)


def test_a_stream_looks_now_and_then_only() -> None:
    asked: list[int] = []
    now = 0.0

    def check() -> bool:
        asked.append(1)
        return len(asked) < 3

    checked = stream._now_and_then(check, 2.0, lambda: now)
    answers = []
    for _ in range(12):
        answers.append(checked())
        now += 1.0
    assert answers == [True] * 6 + [False] * 6
    assert len(asked) == 3
