"""The console's files and its way to the registry."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import resources

import httpx
import pytest
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry

from alert_api.adapters.registry import RegistryReader
from alert_api.api.application import build
from tests.unit.alert_api.samples import FakeAlerts

FOLDER = resources.files("alert_api").joinpath("console")
FILES = {entry.name: entry.read_text(encoding="utf-8") for entry in FOLDER.iterdir() if "." in entry.name}


def client_of(registry: Callable[[httpx.Request], httpx.Response]) -> FlaskClient:
    rules = RegistryReader("http://registry", httpx.MockTransport(registry))
    built = build(alerts=FakeAlerts(), rules=rules, keys=(), registry=CollectorRegistry(), clock=lambda: 0)
    return built.app.test_client()


def silent(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


@pytest.fixture
def client() -> FlaskClient:
    return client_of(silent)


def test_the_page_and_all_it_names_are_served_under_a_strict_policy(client: FlaskClient) -> None:
    named = set(re.findall(r'(?:href|src)="(/console/[^"]+)"', FILES["index.html"]))
    named |= {f"/console/{name}" for name in FILES if name.endswith(".js")}
    assert "/console/main.js" in named
    for path in ("/", *named):
        response = client.get(path)
        assert response.status_code == 200, path
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_modules_import_only_modules_that_are_there() -> None:
    for text in FILES.values():
        for imported in re.findall(r'from "\./([^"]+)"', text):
            assert imported in FILES


def test_scripts_find_the_elements_they_look_for() -> None:
    there = set(re.findall(r'\bid="([^"]+)"', FILES["index.html"]))
    asked = {name for text in FILES.values() for name in re.findall(r'byId\("([^"]+)"\)', text)}
    assert asked
    assert asked <= there


def test_nothing_is_inline_and_nothing_is_built_from_markup() -> None:
    page = FILES["index.html"]
    assert not re.search(r"<style|<script(?![^>]*\bsrc=)|\sstyle=|\son[a-z]+=|javascript:", page)
    scripts = "".join(text for name, text in FILES.items() if name.endswith(".js"))
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|Function\(", scripts
    )


def test_every_input_has_a_label() -> None:
    page = FILES["index.html"]
    labelled = set(re.findall(r'<label for="([^"]+)"', page))
    wrapped = set(re.findall(r'<label[^>]*>(?:(?!</label>).)*?\bid="([^"]+)"', page, re.DOTALL))
    fields = set(re.findall(r'<(?:input|select|textarea)[^>]*\bid="([^"]+)"', page))
    assert {"key", "comment", "rule-filter"} <= fields
    assert fields <= labelled | wrapped


def test_other_files_are_not_found(client: FlaskClient) -> None:
    for path in (
        "/console/nothing.js",
        "/console/../cli.py",
        "/console/..%2fcli.py",
        "/console/registry/keys",
    ):
        assert client.get(path).status_code == 404, path


def test_an_unchanged_file_is_not_sent_again(client: FlaskClient) -> None:
    tag = client.get("/console/main.js").headers["ETag"]
    assert client.get("/console/main.js", headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize(("name", "path"), [("rules", "/v1/rules"), ("rule-status", "/v1/rule-status")])
def test_the_registry_is_asked_with_the_callers_key(name: str, path: str) -> None:
    seen: list[httpx.Request] = []

    def registry(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"items": []}, headers={"Link": "</x>", "Set-Cookie": "a=b"})

    response = client_of(registry).get(
        f"/console/registry/{name}?limit=100&cursor=c&admin=1", headers={"Authorization": "Bearer mine"}
    )
    assert (response.status_code, response.get_json()) == (200, {"items": []})
    assert response.headers["Link"] == "</x>"
    assert "Set-Cookie" not in response.headers
    assert (seen[0].url.path, dict(seen[0].url.params)) == (path, {"limit": "100", "cursor": "c"})
    assert seen[0].headers["Authorization"] == "Bearer mine"


def test_the_registrys_refusal_is_handed_on() -> None:
    refusal = {"Content-Type": "application/problem+json", "WWW-Authenticate": "Bearer"}
    client = client_of(lambda _: httpx.Response(401, json={"status": 401}, headers=refusal))
    response = client.get("/console/registry/rules", headers={"Authorization": "Bearer unknown"})
    assert (response.status_code, response.content_type) == (401, "application/problem+json")
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_registry_that_is_away_is_said_so(client: FlaskClient) -> None:
    response = client.get("/console/registry/rules", headers={"Authorization": "Bearer mine"})
    assert (response.status_code, response.content_type) == (503, "application/problem+json")


def test_without_a_key_the_registry_is_not_asked(client: FlaskClient) -> None:
    assert client.get("/console/registry/rules").status_code == 401
