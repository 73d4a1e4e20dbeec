"""Who may call what: every endpoint of every service × every key of the demo, no key, a wrong key.

What is expected follows from the scope that a route declares and from the roles, and docs/access.md says the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import Final

import pytest
from flask import Flask

from tests.contract.support import access_page
from tests.contract.support.access_page import ANY_KEY, ELSEWHERE, OPEN
from tests.contract.support.http_apps import HOLDERS, SERVICES, Endpoint, app_named, bearer, endpoints
from tripline_http.keys.roles import ROLES, SCOPES

pytestmark = pytest.mark.contract

PEERS: Final = IPv4Address("10.0.0.0")
_PEER_NUMBERS: Final = itertools.count(1)
RIGHTS = access_page.rights()


@pytest.fixture(scope="module")
def apps() -> Mapping[str, Flask]:
    return {service: app_named(service) for service in SERVICES}


def expected(right: str, role: str | None) -> set[int]:
    """The refusals that this role must get; none where it is let in. No role: no key or a wrong one."""
    if right == OPEN:
        return set()
    if role is None:
        return {401}
    return set() if access_page.lets_in(right, role) else {403}


@pytest.mark.parametrize("endpoint", endpoints(), ids=str)
def test_an_endpoint_lets_in_whom_its_route_says_and_nobody_else(
    apps: Mapping[str, Flask], endpoint: Endpoint
) -> None:
    client, right = apps[endpoint.service].test_client(), RIGHTS[endpoint.service, endpoint.name]
    callers: dict[str, tuple[dict[str, str], str | None]] = {
        "no key": ({}, None),
        "wrong key": ({"Authorization": "Bearer tk_0123456789nobody"}, None),
        "another scheme": ({"Authorization": "Basic YWRtaW46YWRtaW4="}, None),
        **{name: (bearer(name), role) for name, role in HOLDERS.items()},
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


def test_every_scope_is_asked_for_somewhere_and_held_by_a_role_that_the_demo_has() -> None:
    assert set(RIGHTS.values()) - {OPEN, ANY_KEY, ELSEWHERE} == SCOPES
    assert {scope for scopes in ROLES.values() for scope in scopes} == SCOPES
    assert set(HOLDERS.values()) == set(ROLES)


LOOKS = {
    "POST /v1/rule-checks",
    "POST /v1/alerts/{alert_id}/verification",
    "POST /v1/alerts/{alert_id}/evidence",
    "POST /v1/cases/{case_id}/evidence",
}
"""What is posted, and changes nothing that there is."""
ONE_S_OWN = {"PUT /v1/views/{name}", "DELETE /v1/views/{name}"}
"""What changes that nobody else sees."""


@pytest.mark.parametrize("role", ["viewer", "auditor"])
def test_who_only_reads_changes_nothing(role: str) -> None:
    writing = {
        right
        for (_, name), right in RIGHTS.items()
        if not name.startswith("GET ") and name not in LOOKS | ONE_S_OWN
    }
    assert not writing & ROLES[role]
    assert all(scope.endswith(":read") for scope in ROLES[role])


def test_nobody_holds_two_of_authoring_approving_commanding_and_keys() -> None:
    apart = {"rules:write", "rules:approve", "controls:write", "keys:write"}
    assert [role for role, scopes in ROLES.items() if len(scopes & apart) > 1] == []


def test_the_page_says_who_has_which_scopes_and_may_call_what() -> None:
    assert access_page.shown() == access_page.tables(), (
        "python -m tests.contract.support.access_page writes it"
    )
