"""The OpenAPI document is written when it is first asked for: whole, once, and the same for all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from prometheus_client import CollectorRegistry

from tripline_http.application import Access, new_app
from tripline_http.openapi import ApiBlueprint, install_api, new_blueprint, openapi_text


def blueprint_of(name: str) -> ApiBlueprint:
    """One with one operation, which has two decorators that document the same answer."""
    blueprint = new_blueprint(name, __name__, f"All of {name}.")

    @blueprint.route(f"/v1/{name}")
    @blueprint.requires("rules:read")
    @blueprint.problems(404, 409)
    def read() -> dict[str, Any]:
        return {}

    return blueprint


def test_all_who_ask_at_once_get_the_whole_of_it() -> None:
    app = new_app("told", access=Access(), registry=CollectorRegistry(), checks={})
    api = install_api(app, title="Told", version="1", description="")
    for name in ("cats", "dogs"):
        api.register_blueprint(blueprint_of(name))
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(app.test_client().get, "/openapi.json") for _ in range(16)]
    first, *others = [answer.result().get_json() for answer in asked]
    assert all(other == first for other in others)
    assert openapi_text(api) == openapi_text(api)
    assert [tag["name"] for tag in first["tags"]] == ["cats", "dogs"]
    assert list(first["paths"]) == ["/v1/cats", "/v1/dogs"]
    operation = first["paths"]["/v1/dogs"]["get"]
    assert set(operation["responses"]) == {"401", "403", "404", "409", "422", "429", "503", "default"}
    assert operation["x-required-scope"] == "rules:read"


def test_a_view_that_is_documented_twice_leaves_the_first_as_it_is() -> None:
    blueprint = new_blueprint("cats", __name__, "")

    def read() -> dict[str, Any]:
        return {}

    once = blueprint.problems(404)(read)
    documented = once.__dict__["_apidoc"]
    blueprint.problems(404, 409)(once)
    assert documented == {"response": {"responses": {404: ["NOT_FOUND"]}}}
