"""The API's documentation for people: everything from this service, and nothing else allowed."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from tests.contract.support.http_apps import app_named
from tripline_http.guards.page_policy import POLICY

SERVICES = ("registry", "alert-api", "generator")


def client(service: str = "registry") -> FlaskClient:
    return app_named(service).test_client()


@pytest.mark.parametrize("service", SERVICES)
def test_every_service_has_it_and_asks_no_key(service: str) -> None:
    answer = client(service).get("/docs")
    assert (answer.status_code, answer.content_type) == (200, "text/html; charset=utf-8")
    assert answer.headers["Content-Security-Policy"] == POLICY
    assert "unsafe" not in POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_all_that_it_names_is_served_here() -> None:
    asked = client()
    page = asked.get("/docs").text
    style = asked.get("/docs/swagger-ui.css").text
    named = re.findall(r'(?:href|src)="([^"]+)"', page) + re.findall(r"url\(([^)]+)\)", style)
    assert len(named) > 20
    for address in named:
        assert address.startswith("/"), address
        assert asked.get(address).status_code == 200, address
    assert "data:" not in style
    assert "@import" not in style
    assert asked.get("/docs/image-4.svg").content_type == "image/svg+xml"
    assert asked.get("/docs/image-4.svg").data.startswith(b"<svg ")
    assert asked.get("/docs/image-0.png").data.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "name", ["index.css", "oauth2-redirect.html", "LICENSE", "..", "%2e%2e%2fopenapi.py"]
)
def test_nothing_else_of_the_package_is_served(name: str) -> None:
    assert client().get(f"/docs/{name}").status_code == 404
