"""Who calls, asked of the running services: bounded by the second, and known by a token of an issuer."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.integration.alert_api.support.api_process import live_api
from tests.integration.alert_api.support.servers import eventually
from tests.integration.alert_api.support.signed_in import sign_in
from tests.oidc_issuer import OidcIssuer, running_issuer
from tests.registry import DEFINITION, running_api
from tests.servers import PostgresServer
from tripline_http.tokens.token_verifier import LEEWAY_SECONDS

pytestmark = pytest.mark.integration

BURST = 4


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Services that are started now let in four requests at once, and then one a second."""
    monkeypatch.setenv("TRIPLINE_RATE_LIMIT", "1")
    monkeypatch.setenv("TRIPLINE_RATE_BURST", str(BURST))


Client = Callable[[str], httpx.Client]


@pytest.fixture(params=["registry", "alert-api"])
def service(
    limited: None,
    request: pytest.FixtureRequest,
    postgres: PostgresServer,
    migrated_database: str,
    tmp_path: Path,
) -> Iterator[tuple[Client, str]]:
    """A running service: its clients, and an address that needs a key."""
    if request.param == "registry":
        with running_api(postgres, migrated_database, tmp_path) as registry:
            yield registry.client, "/v1/rules"
    else:
        dsn = postgres.login(migrated_database, "tripline_alert_api")
        with live_api(dsn, tmp_path) as alerts:
            yield alerts.client, "/v1/session"


def test_a_key_is_held_to_its_rate_and_no_other_is_held_up(service: tuple[Client, str]) -> None:
    client_of, path = service
    with client_of("analyst-key-for-tests") as analyst, client_of("viewer-key-for-tests") as viewer:
        answers = [analyst.get(path) for _ in range(BURST + 20)]
        statuses = [answer.status_code for answer in answers]
        assert statuses[:BURST] == [200] * BURST
        refused = [answer for answer in answers if answer.status_code == 429]
        assert refused
        assert {answer.json()["type"] for answer in refused} == {"urn:tripline:problem:too-many-requests"}
        assert {answer.headers["Retry-After"] for answer in refused} == {"1"}
        assert viewer.get(path).status_code == 200
        assert {analyst.get(probe).status_code for probe in ("/livez", "/readyz") for _ in range(10)} == {200}


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch) -> Iterator[OidcIssuer]:
    """Services that are started now trust it."""
    with running_issuer() as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        yield running


def test_tokens_are_let_in_by_all_services_in_their_role_and_named_in_what_they_change(
    issuer: OidcIssuer, postgres: PostgresServer, migrated_database: str, tmp_path: Path
) -> None:
    alerts_dsn = postgres.login(migrated_database, "tripline_alert_api")
    (tmp_path / "alerts").mkdir()
    with (
        running_api(postgres, migrated_database, tmp_path) as registry,
        live_api(alerts_dsn, tmp_path / "alerts", registry.url) as alerts,
        registry.client(issuer.token()) as ada,
        registry.client(issuer.token(preferred_username="vera", roles=["viewer"])) as vera,
        alerts.client(issuer.token(preferred_username="vera", roles=["viewer"])) as console,
    ):
        made = ada.post("/v1/rules", json=dict(DEFINITION))
        assert made.status_code == 201, made.text
        assert vera.post("/v1/rules", json=dict(DEFINITION)).status_code == 403
        (event,) = vera.get("/v1/rule-events").json()["items"]
        assert event["actor"] == "oidc:ada"
        session = console.get("/v1/session").json()
        assert (session["actor"], session["role"]) == ("oidc:vera", "viewer")
        # The console hands the token on.
        assert len(console.get("/console/registry/rules").json()["items"]) == 1
        refused = console.post("/console/registry/rules", json=dict(DEFINITION))
        assert (refused.status_code, refused.json()["type"]) == (
            403,
            "urn:tripline:problem:insufficient-scope",
        )
        with alerts.client(issuer.token(aud="payroll")) as stranger:
            assert stranger.get("/v1/alerts").status_code == 401


def test_a_token_opens_a_session_of_the_console_which_hands_it_on(
    issuer: OidcIssuer, postgres: PostgresServer, migrated_database: str, tmp_path: Path
) -> None:
    (tmp_path / "alerts").mkdir()
    dsn = postgres.login(migrated_database, "tripline_alert_api")
    with (
        running_api(postgres, migrated_database, tmp_path) as registry,
        live_api(dsn, tmp_path / "alerts", registry.url) as alerts,
    ):
        vera = sign_in(alerts, issuer.token(preferred_username="vera", roles=["viewer"]))
        assert (
            httpx.get(f"{alerts.url}/console/registry/rules", headers=vera, verify=False).status_code == 200
        )
        told = httpx.get(f"{alerts.url}/v1/session", headers=vera, verify=False).json()
        assert (told["actor"], told["role"]) == ("oidc:vera", "viewer")
        assert told["expiresAt"] <= (time.time() + 300 + LEEWAY_SECONDS) * 1000
        soon = int(time.time()) + 5
        # Its time has passed, but not the leeway that a clock may have.
        late = sign_in(alerts, issuer.token(exp=soon - LEEWAY_SECONDS))
        eventually(
            lambda: httpx.get(f"{alerts.url}/v1/alerts", headers=late, verify=False).status_code == 401,
            "the session has ended with its token",
        )
        assert time.time() >= soon
        ended = httpx.get(f"{alerts.url}/v1/alerts", headers=late, verify=False)
        assert ended.json()["type"] == "urn:tripline:problem:session-ended"


def test_without_its_issuer_a_service_goes_on_for_keys(
    issuer: OidcIssuer, postgres: PostgresServer, migrated_database: str, tmp_path: Path
) -> None:
    issuer.status = 500
    with (
        running_api(postgres, migrated_database, tmp_path) as registry,
        registry.client(issuer.token()) as ada,
        registry.client() as analyst,
    ):
        refused = ada.get("/v1/rules")
        assert (refused.status_code, refused.json()["type"]) == (
            503,
            "urn:tripline:problem:issuer-unavailable",
        )
        assert analyst.get("/v1/rules").status_code == 200
        assert ada.get("/readyz").status_code == 200
