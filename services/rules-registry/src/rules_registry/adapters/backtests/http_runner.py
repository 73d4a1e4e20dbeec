"""The prover as whoever runs backtests and makes estimates, asked over HTTP with its key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

import httpx

from rules_registry.domain.backtests.backtest import Tried, Wanted, beside_of
from rules_registry.domain.backtests.errors import RunnerAway, RunRefused
from rules_registry.domain.estimates.estimate import EstimateBounds
from rules_registry.service.backtests.backtest_desk import Labels, RunStatus

_SECONDS: Final = 5.0
_LATER: Final = (HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.UNAUTHORIZED)


class HttpRunner:
    """One prover at one address; for one thread."""

    def __init__(self, url: str, key: str, transport: httpx.BaseTransport | None = None) -> None:
        # trust_env off: an address that the operator gave is not to be reached by way of somebody's proxy
        self._client = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(_SECONDS, connect=1.0),
            trust_env=False,
            transport=transport,
        )

    def close(self) -> None:
        """Frees the connection."""
        self._client.close()

    def start(self, key: str, wanted: Wanted, labels: Labels, most_alerts: int) -> None:
        """Begins a run; one of that key is left as it is."""
        question = {
            "key": key,
            "rules": [_rule(rule) for rule in wanted.rules],
            "from": wanted.first,
            "until": wanted.until,
            "knowledge": wanted.knowledge,
            "beside": beside_of(wanted.rules),
            "labels": [list(label) for label in labels],
            "mostAlerts": most_alerts,
        }
        if self._ask("start", question) is None:
            raise RunRefused("the prover knows no backtests: it is of another release")

    def start_estimate(self, key: str, rule: Mapping[str, Any], bounds: EstimateBounds) -> None:
        """Begins an estimate; one of that key is left as it is."""
        question = {
            "key": key,
            "rule": rule,
            "days": bounds.days,
            "transactions": bounds.transactions,
            "seconds": bounds.seconds,
        }
        if self._ask("estimate", question) is None:
            raise RunRefused("the prover knows no estimates: it is of another release")

    def status(self, key: str) -> RunStatus | None:
        """How the run stands; None where it is not known."""
        answer = self._ask("status", {"key": key})
        if answer is None:
            return None
        return RunStatus(answer["state"], answer["progress"], answer.get("result"), answer.get("failure"))

    def alerts(self, key: str, after: int, limit: int) -> Sequence[Mapping[str, Any]]:
        """Alerts of a run that is done, after so many."""
        answer = self._ask("alerts", {"key": key, "after": after, "limit": limit})
        return answer["items"] if answer else []

    def end(self, key: str) -> None:
        """Ends a run, and forgets it."""
        self._ask("end", {"key": key})

    def _ask(self, what: str, question: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer; None where there is no such thing. Raises `RunnerAway` and `RunRefused`."""
        try:
            answer = self._client.post(f"/v1/backtests/{what}", content=json.dumps(question).encode())
            body = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise RunnerAway(f"The prover does not answer: {type(error).__name__}.") from error
        if answer.status_code == HTTPStatus.OK and isinstance(body, dict):
            return body
        if answer.status_code == HTTPStatus.NOT_FOUND:
            return None
        detail = body.get("detail") if isinstance(body, dict) else None
        if answer.status_code in _LATER:
            raise RunnerAway(f"The prover does not take it now: {detail}.")
        raise RunRefused(f"the prover refuses it: {detail}")


def _rule(rule: Tried) -> dict[str, Any]:
    return {**rule.definition, "name": rule.name, "ruleId": rule.tried_id, "counted": rule.counted}
