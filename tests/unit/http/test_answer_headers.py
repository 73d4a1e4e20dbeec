"""Headers of every answer of every service: its type is not guessed, and no cache keeps what a key may see."""

from __future__ import annotations

import pytest
from flask import Flask
from prometheus_client import CollectorRegistry

from tests.contract.support.access_page import CONSOLE_PAGES
from tests.contract.support.http_apps import SERVICES, Endpoint, app_named, bearer, endpoints
from tripline_http.application import Access, new_app

# The console's pages and declarations: the same for everybody; a browser keeps them and asks whether they changed.
PUBLIC = {*CONSOLE_PAGES, "/console/event-type"}


def caching(endpoint: Endpoint) -> str:
    """The value of `Cache-Control` that an answer of this endpoint must have."""
    path = endpoint.name.partition(" ")[2]
    kept = path == "/docs" or (endpoint.service == "alert-api" and path in PUBLIC)
    return "no-cache" if kept else "no-store"


@pytest.fixture(scope="module")
def apps() -> dict[str, Flask]:
    return {service: app_named(service) for service in SERVICES}


@pytest.mark.parametrize("endpoint", endpoints(), ids=str)
@pytest.mark.parametrize("headers", [{}, bearer("admin")], ids=["no key", "admin"])
def test_an_answer_is_not_sniffed_and_not_cached(
    apps: dict[str, Flask], endpoint: Endpoint, headers: dict[str, str]
) -> None:
    client = apps[endpoint.service].test_client(use_cookies=False)
    answer = client.open(endpoint.path, method=endpoint.method, headers={**headers, "If-Match": "*"})
    try:
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == caching(endpoint)
    finally:
        answer.close()


@pytest.mark.parametrize(("path", "status"), [("/livez", 200), ("/metrics", 200), ("/nowhere", 404)])
def test_a_metrics_server_answers_with_them_too(path: str, status: int) -> None:
    app = new_app("metrics", access=Access(), registry=CollectorRegistry(), checks={})
    answer = app.test_client().get(path)
    assert answer.status_code == status
    assert (answer.headers["X-Content-Type-Options"], answer.headers["Cache-Control"]) == (
        "nosniff",
        "no-store",
    )
