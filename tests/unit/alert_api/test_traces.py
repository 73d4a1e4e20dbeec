"""/v1/rules/…/traces: who may read, what is asked, what is answered without Kafka."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from flask.testing import FlaskClient

from alert_api.api.console_data import Line
from alert_api.errors import UpstreamUnavailable
from tests.unit.alert_api.support.samples import NOWHERE, app, key, trace

VIEWER, AS_VIEWER = key("viewer", "alerts:read")
CLERK, AS_CLERK = key("clerk", "rules:read", "controls:write")


@dataclass
class FakeTraces:
    """As many traces as are asked for."""

    broken: Exception | None = None
    asked: list[tuple[int, int]] = field(default_factory=list)

    def newest(self, rule_id: int, limit: int) -> list[dict[str, Any]]:
        self.asked.append((rule_id, limit))
        if self.broken is not None:
            raise self.broken
        return [trace(number, ruleId=rule_id) for number in range(2)]

    def close(self) -> None:
        """Nothing is held."""


def client_of(traces: FakeTraces | None) -> FlaskClient:
    line = Line(NOWHERE, traces=traces)
    return app(line=line, keys=(VIEWER, CLERK)).test_client()


def test_the_traces_of_a_rule() -> None:
    traces = FakeTraces()
    client = client_of(traces)
    answer = client.get("/v1/rules/9/traces", headers=AS_VIEWER)
    assert answer.get_json() == {"items": [trace(0, ruleId=9), trace(1, ruleId=9)]}
    assert client.get("/v1/rules/9/traces?limit=7", headers=AS_VIEWER).status_code == 200
    assert traces.asked == [(9, 50), (9, 7)]


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/v1/rules/9/traces", {}, 401),
        ("/v1/rules/9/traces", AS_CLERK, 403),
        ("/v1/rules/0/traces", AS_VIEWER, 404),
        ("/v1/rules/x/traces", AS_VIEWER, 404),
        ("/v1/rules/2147483648/traces", AS_VIEWER, 404),
        ("/v1/rules/9/traces?limit=0", AS_VIEWER, 422),
        ("/v1/rules/9/traces?limit=101", AS_VIEWER, 422),
        ("/v1/rules/9/traces?since=5", AS_VIEWER, 422),
    ],
)
def test_what_is_refused(path: str, headers: dict[str, str], status: int) -> None:
    traces = FakeTraces()
    answer = client_of(traces).get(path, headers=headers)
    assert (answer.status_code, answer.content_type) == (status, "application/problem+json")
    assert traces.asked == []


def test_a_broker_that_is_away_or_was_never_there() -> None:
    away = client_of(FakeTraces(UpstreamUnavailable("Kafka", "says nothing")))
    answer = away.get("/v1/rules/9/traces", headers=AS_VIEWER)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1")
    problem = client_of(None).get("/v1/rules/9/traces", headers=AS_VIEWER)
    assert (problem.status_code, problem.get_json()["type"]) == (404, "urn:tripline:problem:not-connected")
