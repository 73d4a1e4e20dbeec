"""Who may call what: every endpoint of every service × every role of the demo, no key, a wrong key.

What is expected follows from the scope that a route declares, and docs/access.md says the same.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from ipaddress import IPv4Address
from pathlib import Path
from typing import Final

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.contract.support.http_apps import ROLES, SERVICES, Endpoint, app_named, bearer, endpoints
from tripline_http.keys.key_file import SCOPES

pytestmark = pytest.mark.contract

PAGE: Final = Path(__file__).parents[2] / "docs" / "access.md"
OPEN: Final = "open"
ANY_KEY: Final = "any key"
ELSEWHERE: Final = "the registry decides"
PEERS: Final = IPv4Address("10.0.0.0")
_PEER_NUMBERS: Final = itertools.count(1)

# What declares no scope of its own: probes, documents, the console's files, and its data from elsewhere.
PROBES: Final = {f"GET {path}": OPEN for path in ("/livez", "/readyz", "/metrics", "/openapi.json")}
CONSOLE: Final = {
    **{
        f"GET {page}": OPEN
        for page in ("/", "/live", "/rules", "/lists", "/alerts", "/alerts/{_alert}", "/controls")
    },
    "GET /console/{name}": OPEN,
    "GET /console/event-type": OPEN,
    "GET /console/session": ANY_KEY,
    "GET /console/engine": "alerts:read",
    "GET /console/transactions": "alerts:read",
    "GET /console/generator/{path}": "traffic:read",
    **{f"{method} /console/generator/{{path}}": "traffic:write" for method in ("POST", "PUT", "DELETE")},
    **{f"{method} /console/registry/{{path}}": ELSEWHERE for method in ("GET", "POST", "PUT", "DELETE")},
}


@pytest.fixture(scope="module")
def apps() -> Mapping[str, Flask]:
    return {service: app_named(service) for service in SERVICES}


def declared(client: FlaskClient) -> dict[str, str]:
    """The scope of each documented operation, as its route declares it."""
    return {
        f"{method.upper()} {path}": operation["x-required-scope"]
        for path, item in client.get("/openapi.json").get_json()["paths"].items()
        for method, operation in item.items()
        if method != "parameters"
    }


def rights() -> dict[tuple[str, str], str]:
    """What each endpoint asks for, by service and name."""
    found = {}
    for service in SERVICES:
        known = {**declared(app_named(service).test_client()), **PROBES}
        known |= CONSOLE if service == "alert-api" else {}
        for endpoint in endpoints():
            if endpoint.service == service:
                found[service, endpoint.name] = known[endpoint.name]
    return found


RIGHTS = rights()


def expected(right: str, role: str | None) -> set[int]:
    """The refusals that this role must get; none where it is let in. No role: no key or a wrong one."""
    if right == OPEN:
        return set()
    if role is None:
        return {401}
    return set() if right in (ANY_KEY, ELSEWHERE) or right in ROLES[role] else {403}


@pytest.mark.parametrize("endpoint", endpoints(), ids=str)
def test_an_endpoint_lets_in_whom_its_route_says_and_nobody_else(
    apps: Mapping[str, Flask], endpoint: Endpoint
) -> None:
    client, right = apps[endpoint.service].test_client(), RIGHTS[endpoint.service, endpoint.name]
    callers: dict[str, tuple[dict[str, str], str | None]] = {
        "no key": ({}, None),
        "wrong key": ({"Authorization": "Bearer tk_0123456789nobody"}, None),
        "another scheme": ({"Authorization": "Basic YWRtaW46YWRtaW4="}, None),
        **{role: (bearer(role), role) for role in ROLES},
    }
    for caller, (headers, role) in callers.items():
        # From an address of its own: wrong keys of one address are throttled.
        peer = {"REMOTE_ADDR": str(PEERS + next(_PEER_NUMBERS))}
        answer = client.open(
            endpoint.path,
            method=endpoint.method,
            headers={**headers, "If-Match": "*"},
            environ_overrides=peer,
        )
        refusals = {answer.status_code} & {401, 403}
        assert refusals == expected(right, role), (caller, answer.status_code)
        answer.close()


def test_every_scope_is_asked_for_somewhere_and_held_by_somebody() -> None:
    assert set(RIGHTS.values()) - {OPEN, ANY_KEY, ELSEWHERE} == SCOPES
    assert {scope for scopes in ROLES.values() for scope in scopes} == SCOPES


def test_who_only_reads_changes_nothing() -> None:
    writing = {right for (_, name), right in RIGHTS.items() if not name.startswith("GET ")}
    assert not writing & set(ROLES["viewer"])
    assert all(scope.endswith(":read") for scope in ROLES["viewer"])


def tables() -> list[list[list[str]]]:
    """The tables of docs/access.md without their heads: rows of cells."""
    blocks = re.findall(r"(?:^\|.*\n)+", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [
        [
            [cell.strip().strip("`") for cell in line.strip("|\n").split("|")]
            for line in block.splitlines()[2:]
        ]
        for block in blocks
    ]


def test_the_page_says_which_role_has_which_scopes() -> None:
    roles = {row[0]: set(re.findall(r"[a-z]+:[a-z]+", row[1])) for row in tables()[0]}
    assert roles == {role: set(scopes) for role, scopes in ROLES.items()}


def test_the_page_says_what_each_endpoint_asks_for() -> None:
    rows = {(row[0], row[1]): row[2] for row in tables()[1]}
    assert rows == RIGHTS
