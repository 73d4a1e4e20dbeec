"""Requests over TLS: to the address that was looked at, under the name that the certificate has to be of."""

from __future__ import annotations

import datetime as dt
import ssl
from pathlib import Path

import pytest

from alert_api.adapters.webhooks.http_sender import HttpWebhookSender
from alert_api.domain.webhooks.message import ping_of
from alert_api.domain.webhooks.reach import Reach
from alert_api.domain.webhooks.signature import Secrets, new_secret
from alert_api.service.webhooks.deliverer import Answer
from tests.integration.alert_api.support.webhook_receiver import receiving
from tripline_demo.deployment.certificates import Certified, certify

NAME = "hooks.example"
PING = ping_of(1, "desk", 1, 0, "cloudevents")


@pytest.fixture(scope="module")
def certified() -> Certified:
    return certify([NAME], dt.datetime.now(dt.UTC))


def sender(certified: Certified, *addresses: str) -> HttpWebhookSender:
    reach = Reach(frozenset({NAME, "other.example"}), private=True)
    trusted = ssl.create_default_context(cadata=certified.authority)
    return HttpWebhookSender(reach, lambda: 1, lambda _host, _port: list(addresses), verify=trusted)


def served(certified: Certified, folder: Path, asked: list[str | None]) -> ssl.SSLContext:
    file = folder / "server.pem"
    file.write_text(certified.key_and_certificate)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    return context


def test_name_and_certificate_are_those_of_the_url_whatever_the_address_is(
    certified: Certified, tmp_path: Path
) -> None:
    asked: list[str | None] = []
    with receiving(tls=served(certified, tmp_path, asked)) as receiver:
        told = sender(certified, "127.0.0.1")
        assert told.post(f"https://{NAME}:{receiver.port}/in", Secrets(new_secret()), PING) == Answer(204)
        other = told.post(f"https://other.example:{receiver.port}/in", Secrets(new_secret()), PING)
    assert asked == [NAME, "other.example"]
    assert other.status is None
    assert "certificate" in (other.error or "").lower()
    ((path, headers, body),) = receiver.came
    assert (path, headers["host"], body) == ("/in", f"{NAME}:{receiver.port}", PING.body)


@pytest.mark.parametrize(
    ("url", "addresses", "said"),
    [
        (f"https://{NAME}:1/", ["127.0.0.1"], "refused"),
        (f"https://{NAME}/", [], "has no address"),
        (f"http://{NAME}/", ["127.0.0.1"], "https://"),
        ("https://evil.example/", ["127.0.0.1"], "TRIPLINE_WEBHOOK_HOSTS"),
        (f"https://{NAME}/", ["0.0.0.0"], "no address of one host"),
    ],
)
def test_what_cannot_be_sent_is_said(certified: Certified, url: str, addresses: list[str], said: str) -> None:
    answer = sender(certified, *addresses).post(url, Secrets(new_secret()), PING)
    assert answer.status is None
    assert said in (answer.error or "")
    assert "Errno" not in (answer.error or "")


def test_a_name_that_nobody_knows_has_no_address(certified: Certified) -> None:
    def unknown(_host: str, _port: int) -> list[str]:
        raise OSError(-2, "Name or service not known")

    reach = Reach(frozenset({NAME}))
    answer = HttpWebhookSender(reach, lambda: 1, unknown).post(
        f"https://{NAME}/", Secrets(new_secret()), PING
    )
    assert answer == Answer(None, f"{NAME} has no address: Name or service not known")
