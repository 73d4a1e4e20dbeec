"""schemathesis with the key of each role: what it may not do is 403 by the document, what it may do is by the document
too, and nothing is 5xx.

Many cases and every phase are the business of `test_registry_schemathesis.py` and `test_alert_api_schemathesis.py`,
with a key that may do everything; which role may call what is that of `test_access.py`, in every run. This is in
`make soak`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.contract.support import access_page, alert_cases, registry_cases
from tests.contract.support.in_memory_prover import made_up_backtests
from tests.contract.support.narrow_bodies import without_repetitions
from tests.contract.support.role_campaign import RoleCampaign, RoleOutcome
from tests.registry import running_api
from tests.servers import PostgresServer
from tripline_http.keys.roles import ROLES

pytestmark = [pytest.mark.contract, pytest.mark.soak, pytest.mark.timeout(1200)]

STREAM = "/v1/alerts/stream"
"""Read to its end, which it has not."""


def key_of(role: str) -> str:
    return f"{role}-of-role-for-tests"


@pytest.fixture
def registry(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RoleCampaign]:
    with ExitStack() as stack:
        database = stack.enter_context(postgres.database(migrated=True))
        folder = tmp_path_factory.mktemp("registry")
        prover = stack.enter_context(made_up_backtests(folder))
        api = stack.enter_context(running_api(postgres, database, folder, prover))
        folder = tmp_path_factory.mktemp("four-eyes")
        eyes = stack.enter_context(running_api(postgres, database, folder, {"TRIPLINE_FOUR_EYES": "true"}))
        client = stack.enter_context(api.client("everything-key-for-tests"))
        author = stack.enter_context(eyes.client("second-key-for-tests"))
        caller = stack.enter_context(api.client(key_of("analyst")))
        supply = registry_cases.Supply(client, author, database, caller)
        yield RoleCampaign(api.url, key_of, supply.fill, narrow=without_repetitions)


@pytest.fixture
def alert_api(
    postgres: PostgresServer, kafka: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RoleCampaign]:
    with ExitStack() as stack:
        database = stack.enter_context(postgres.database(migrated=True))
        folder = tmp_path_factory.mktemp("alert-api")
        api = stack.enter_context(alert_cases.seeded_api(postgres, database, kafka, folder))
        client = stack.enter_context(api.client())
        yield RoleCampaign(api.url, key_of, alert_cases.Supply(client).fill, (STREAM,))


@pytest.mark.parametrize("service", ["registry", "alert-api"])
def test_every_operation_keeps_its_contract_with_every_role(
    service: str, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    campaign: RoleCampaign = request.getfixturevalue(service.replace("-", "_"))
    outcome: RoleOutcome = campaign.run()
    answers = sum(sum(counted.values()) for counted in outcome.statuses.values())
    record_property("told", f"{answers} answers to {len(outcome.statuses)} pairs of role and operation")
    assert not outcome.failures, "\n\n".join(outcome.failures[:5])
    documented = {
        (role, name): right
        for (other, name), right in access_page.rights().items()
        for role in ROLES
        if other == service and " /v1/" in name and not name.endswith(STREAM)
    }
    assert set(outcome.statuses) == set(documented)
    for (role, name), counted in outcome.statuses.items():
        told = (role, name, dict(counted))
        if access_page.lets_in(documented[role, name], role):
            assert any(200 <= status < 300 for status in counted), told
        else:
            assert set(counted) == {403}, told
