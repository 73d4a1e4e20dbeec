"""What there is to say about an alert or a case, as the files of a bundle: by name, the JSON of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final, Protocol, TypeVar

from alert_api.api.alerts import Alerts, alert_json, event_json
from alert_api.api.cases.case_json import case_event_json, case_json, episode_json
from alert_api.api.proofs.verification import MOST_LISTED, kept_json
from alert_api.domain.events import AlertId
from alert_api.errors import ProofRefused
from alert_api.service.alert_queries import StoredAlert
from alert_api.service.cases.case_queries import CaseReader
from alert_api.service.proofs import Of, Prover
from alert_api.service.rule_then import Ask, rule_then

CONTRIBUTORS: Final = 10_000
"""Of one condition, or of its limit, the newest; the file says how many there are."""
CASE_ALERTS: Final = 1_000
PROVEN_ALERTS: Final = 20
"""Of a case, the newest: each takes a proof."""
PROVING_SECONDS: Final = 30.0
_PAGE: Final = 1_000
_CASE_PAGE: Final = 100


class _Page(Protocol):
    """Some of a list; `following` is None on the last page."""

    @property
    def following(self) -> Any: ...


PageT = TypeVar("PageT", bound=_Page)
ItemT = TypeVar("ItemT")


class Collection:
    """Collects for one caller, whose key asks the registry through `ask`."""

    def __init__(self, alerts: Alerts, cases: CaseReader, prover: Prover, ask: Ask) -> None:
        self._alerts, self._cases, self._prover, self._ask = alerts, cases, prover, ask
        self._rules: dict[tuple[int, int], dict[str, Any]] = {}

    def of_alert(self, alert_id: AlertId) -> dict[str, Any]:
        """Raises AlertNotFound, ProverBusy, ProverUnavailable."""
        return dict(self._files_of(self._alerts.get(alert_id), ""))

    def of_case(self, case_id: int) -> dict[str, Any]:
        """Raises CaseNotFound, ProverBusy, ProverUnavailable."""
        alerts = self._alerts_of(case_id)
        files = {
            "case.json": case_json(self._cases.get(case_id)),
            "episodes.json": self._episodes_of(case_id),
            "events.json": self._events_of(case_id),
            "alerts.json": [alert_json(alert) for alert in alerts],
        }
        began, proven = time.monotonic(), 0
        for alert in alerts[:PROVEN_ALERTS]:
            if time.monotonic() - began > PROVING_SECONDS:
                break
            files |= dict(self._files_of(alert, f"alerts/{alert.alert_id}/"))
            proven += 1
        files["extent.json"] = {
            "alertsListed": len(alerts),
            "alertsListedAtMost": CASE_ALERTS,
            "alertsWithTransactions": proven,
            "alertsWithTransactionsAtMost": PROVEN_ALERTS,
        }
        return files

    def _files_of(self, alert: StoredAlert, folder: str) -> Iterator[tuple[str, Any]]:
        content = alert.content
        yield f"{folder}alert.json", alert_json(alert)
        events = self._alerts.events_of(alert.alert_id)
        yield (
            f"{folder}events.json",
            [event_json(version, event) for version, event in enumerate(events, start=1)],
        )
        kept = self._alerts.verifications_of(alert.alert_id, MOST_LISTED)
        yield f"{folder}verifications-before.json", [kept_json(alert.alert_id, one) for one in kept]
        yield f"{folder}rule.json", self._rule(content)
        try:
            yield f"{folder}verification.json", self._prover.verify(content)
            for number, measured in enumerate(content.get("conditions") or [content]):
                yield f"{folder}contributors/{number}.json", self._contributors(content, number, "value")
                if "limitMeasure" in measured:
                    limit = self._contributors(content, number, "limit")
                    yield f"{folder}contributors/{number}-limit.json", limit
        except ProofRefused as refused:
            # evidence that there is no proof is evidence, too
            yield (
                f"{folder}verification.json",
                {
                    "outcome": "refused",
                    "reason": refused.reason,
                    "detail": str(refused),
                },
            )

    def _rule(self, content: Mapping[str, Any]) -> dict[str, Any]:
        key = (content["ruleId"], content["ruleVersion"])
        if key not in self._rules:
            self._rules[key] = {"ruleId": key[0], "version": key[1], **rule_then(*key, self._ask)}
        return self._rules[key]

    def _contributors(self, content: Mapping[str, Any], condition: int, of: Of) -> dict[str, Any]:
        items: list[Any] = []
        after: int | None = 0
        count = 0
        while after is not None and len(items) < CONTRIBUTORS:
            most = min(_PAGE, CONTRIBUTORS - len(items))
            page = self._prover.window(content, condition, of, after, most)
            items += page["items"]
            after, count = page["next"], page["count"]
        return {"condition": condition, "of": of, "count": count, "listed": len(items), "transactions": items}

    def _alerts_of(self, case_id: int) -> list[StoredAlert]:
        pages = _pages(lambda after: self._cases.alerts(case_id, None, after, _CASE_PAGE))
        return _first(alert for page in pages for alert in page.alerts)

    def _episodes_of(self, case_id: int) -> list[dict[str, Any]]:
        pages = _pages(lambda after: self._cases.episodes(case_id, after, _CASE_PAGE))
        return _first(episode_json(episode) for page in pages for episode in page.episodes)

    def _events_of(self, case_id: int) -> list[dict[str, Any]]:
        pages = _pages(lambda before: self._cases.events(case_id, before, _CASE_PAGE))
        return _first(case_event_json(event) for page in pages for event in page.events)


def _pages(read: Callable[[Any], PageT]) -> Iterator[PageT]:
    """Page after page, from where the one before ended."""
    following = None
    while True:
        page = read(following)
        yield page
        following = page.following
        if following is None:
            return


def _first(items: Iterable[ItemT]) -> list[ItemT]:
    """As many as a bundle lists."""
    return list(islice(items, CASE_ALERTS))
