"""Which names a service answers to, and that everything else comes after that."""

from __future__ import annotations

import pytest
from flask import Flask, request
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry
from werkzeug.test import create_environ, run_wsgi_app

from tripline_http.application import Access, new_app
from tripline_http.bind_address import LOOPBACK, Bind, parse_hosts
from tripline_http.errors import ConfigurationError

INSIDE = Bind("127.0.0.1", 8081)
OUTSIDE = Bind("0.0.0.0", 8081)
PROBED = ("/livez", "/readyz", "/metrics")


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("registry", True),
        ("registry:1", True),
        ("Registry:8081", True),
        ("rules.example:8443", True),
        ("rules.example", False),
        ("rules.example:443", False),
        ("www.example", True),  # of https, whose port a browser leaves out
        ("www.example:443", True),
        ("www.example:80", False),
        ("10.0.0.7", True),
        ("10.0.0.8", False),
        ("[fd00::1]:8081", True),
        ("[FD00::1]:8081", True),
        ("[fd00::1]:8082", False),
        ("localhost:9", True),
        ("127.0.0.1", True),
        ("[::1]:8081", True),
        ("attacker.example", False),
        ("registry.attacker.example", False),
        ("registry@attacker.example", False),
        ("attacker.example/registry", False),
        ("registry,attacker.example", False),
        ("registry.", False),
        ("", False),
    ],
)
def test_names_are_compared_whole(host: str, known: bool) -> None:
    listed = "registry, rules.example:8443 ,www.example:443,10.0.0.7,[fd00::1]:8081,"
    assert parse_hosts(OUTSIDE, listed).include(host) is known


@pytest.mark.parametrize("text", ["http://a", "a b", "a/b", "a@b", "*", "a:b", "a:65536", "[a]", "é", "a;b"])
def test_what_is_no_name_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(ConfigurationError, match="TRIPLINE_HTTP_HOSTS has '"):
        parse_hosts(INSIDE, f"registry,{text}")


@pytest.mark.parametrize("text", ["", " , "])
def test_a_server_that_others_reach_needs_a_name(text: str) -> None:
    assert parse_hosts(INSIDE, text) == LOOPBACK
    for bind in (OUTSIDE, Bind("::", 8081), Bind("10.0.0.7", 8081)):
        with pytest.raises(ConfigurationError, match="TRIPLINE_HTTP_HOSTS is not set, and others can reach"):
            parse_hosts(bind, text)


@pytest.fixture
def read_bodies() -> list[bytes]:
    return []


@pytest.fixture
def app(read_bodies: list[bytes]) -> Flask:
    access = Access(hosts=parse_hosts(OUTSIDE, "registry"))
    app = new_app("hosts", access=access, registry=CollectorRegistry(), checks={})

    def echo() -> str:
        read_bodies.append(request.get_data())
        return "read"

    app.add_url_rule("/echo", "echo", echo, methods=["POST"])
    return app


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.mark.parametrize("method", ["POST", "GET"])
@pytest.mark.parametrize("path", ["/echo", "/nowhere", *PROBED])
def test_a_foreign_name_is_refused_before_route_key_and_body(
    client: FlaskClient, read_bodies: list[bytes], method: str, path: str
) -> None:
    answer = client.open(path, method=method, data=b"x", headers={"Host": "attacker.example"})
    assert answer.status_code == 421
    assert answer.content_type == "application/problem+json"
    assert answer.json is not None
    assert answer.json["type"] == "urn:tripline:problem:unknown-host"
    assert "TRIPLINE_HTTP_HOSTS" in answer.json["detail"]
    assert answer.json["errors"][0]["field"] == "header.Host"
    assert answer.json["requestId"] == answer.headers["X-Request-Id"]
    assert "attacker" not in answer.text
    assert read_bodies == []
    assert client.post("/echo", data=b"x", headers={"Host": "registry:8081"}).text == "read"


@pytest.mark.parametrize("host", ["10.0.0.9:8081", "[fd00::9]:8081", None])
def test_a_probe_need_not_know_a_name(app: Flask, host: str | None) -> None:
    """It is given the address of a pod; and no page comes under an address that is not its own."""
    assert [status_of(app, path, host) for path in PROBED] == [200, 200, 200]
    assert status_of(app, "/nowhere", host) == 421


def test_whoever_names_no_hosts_answers_to_loopback() -> None:
    app = new_app("default", access=Access(), registry=CollectorRegistry(), checks={})
    assert [status_of(app, "/livez", host) for host in ("localhost:1", "registry")] == [200, 421]
    anybody = new_app("any", access=Access(hosts=None), registry=CollectorRegistry(), checks={})
    assert status_of(anybody, "/livez", "registry") == 200


def status_of(app: Flask, path: str, host: str | None) -> int:
    """The answer to a request with this Host, or without any."""
    environ = create_environ(path)
    del environ["HTTP_HOST"]
    if host is not None:
        environ["HTTP_HOST"] = host
    _, status, _ = run_wsgi_app(app, environ)
    return int(status.split()[0])
