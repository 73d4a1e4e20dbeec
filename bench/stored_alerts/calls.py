"""The calls that are measured: every filter of alerts by itself, and pairs that people make."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Final

import httpx
import numpy as np

from alert_api.service.alert_counts import HOUR_MS
from bench.stored_alerts.filling import ASSIGNEES, HEAVY_PAYEE, SEVERITIES, TYPES
from bench.stored_alerts.fresh_alerts import END, MONTH_MS, PAYEES, RULES

Call = Callable[[], httpx.Response]
Query = dict[str, str | int | list[str]]

DAY_MS: Final = 24 * HOUR_MS
PLACES: Final = 12


class Calls:
    """By name; what each asks for changes from call to call."""

    def __init__(self, client: httpx.Client, total: int) -> None:
        self._client = client
        self._numbers = itertools.cycle(np.random.default_rng(1).integers(1, total, 5000).tolist())
        self._cursors = itertools.cycle(self._first_cursors())
        self._ids = itertools.cycle([one for _ in range(20) for one in self._ids_of(next(self._cursors))])

    def lists(self) -> dict[str, Call]:
        """Pages of fifty."""
        filters = {**self._alone(), **self._together()}
        calls = {name: self._list(query) for name, query in filters.items()}
        calls["from all over it"] = lambda: self._client.get(
            "/v1/alerts", params=httpx.QueryParams(next(self._cursors))
        )
        return calls

    def singles(self) -> dict[str, Call]:
        """One alert."""
        return {
            "an alert": lambda: self._client.get(f"/v1/alerts/{next(self._ids)}"),
            "its events": lambda: self._client.get(f"/v1/alerts/{next(self._ids)}/events"),
        }

    def summaries(self) -> dict[str, Call]:
        """Sums by rule and hour."""
        end = END // HOUR_MS * HOUR_MS - 1
        day: Query = {"from": end + 1 - DAY_MS, "to": end}
        week: Query = {"from": end + 1 - 7 * DAY_MS, "to": end}
        queries: dict[str, Callable[[], Query]] = {
            "of a day": lambda: day,
            "of a week": lambda: week,
            "of a rule, any minutes": lambda: {
                "from": END - 100 * HOUR_MS,
                "to": END,
                "ruleId": self._rule(),
            },
            "of a severity, a week": lambda: {**week, "severity": self._severity()},
            "of a group, a week": lambda: {**week, "group": self._payee()},
            "of a large group, a week": lambda: {**week, "group": f"payeeId:{HEAVY_PAYEE}"},
            "of large amounts, a day": lambda: {**day, "minAmount": 90_000},
            "of open cases, a day": lambda: {**day, "caseState": "unresolved"},
        }
        return {name: self._summary(query) for name, query in queries.items()}

    def _alone(self) -> dict[str, Callable[[], Query]]:
        return {
            "newest": dict,
            "open": lambda: {"state": "open"},
            "acknowledged": lambda: {"state": "acknowledged"},
            "voided": lambda: {"voided": "true"},
            "snoozed": lambda: {"snoozed": "true"},
            "not snoozed": lambda: {"snoozed": "false"},
            "of a snooze": lambda: {"snoozeId": 1},
            "of a rule": lambda: {"ruleId": self._rule()},
            "of a version": lambda: {"ruleVersion": 1},
            "of a severity": lambda: {"severity": self._severity()},
            "of a group": lambda: {"group": self._payee()},
            "of a group of 100,000": lambda: {"group": f"payeeId:{HEAVY_PAYEE}"},
            "of a group of 200,000": lambda: {"group": f"paymentType:{TYPES[self._number() % len(TYPES)]}"},
            "of no group": lambda: {"group": "payeeId:nobody"},
            "by transaction": lambda: {"transactionId": f"b-{self._number()}"},
            "of a span": lambda: self._span("from", "to", DAY_MS),
            "detected in an hour": lambda: self._span("detectedFrom", "detectedTo", HOUR_MS),
            "detected in a week": lambda: self._span("detectedFrom", "detectedTo", 7 * DAY_MS),
            "detected until then": lambda: {"detectedTo": END - self._number() * 250},
            "amount, one in twenty": lambda: {"minAmount": 50_000 + self._number() % 5000},
            "amount, one in a thousand": lambda: {"minAmount": 98_000 + self._number() % 500},
            "amount, one in 20,000": lambda: {"minAmount": "98650"},
            "amounts, a few": lambda: {"minAmount": 70_000, "maxAmount": 70_010},
            "outcome, most": lambda: {"outcome": "false_positive"},
            "outcome, one case in a hundred": lambda: {"outcome": "inconclusive"},
            "state of the case": lambda: {"caseState": "unresolved"},
            "assignee": lambda: {"assignee": f"analyst-{self._number() % ASSIGNEES}"},
        }

    def _together(self) -> dict[str, Callable[[], Query]]:
        return {
            "of a rule, open, of a day": lambda: {"ruleId": self._rule(), "state": "open", "to": END - MONTH_MS // 2},
            "of a rule and a group": lambda: {"ruleId": self._rule(), "group": self._payee()},
            "of two group fields": lambda: {"group": [self._payee(), f"beneficiaryId:{self._number() % 10}"]},
            "of a group, open": lambda: {"group": self._payee(), "state": "open"},
            "of a large group, large amounts": lambda: {"group": f"payeeId:{HEAVY_PAYEE}", "minAmount": 90_000},
            "of a severity, large amounts": lambda: {"severity": self._severity(), "minAmount": 90_000},
            "of a severity, open": lambda: {"severity": self._severity(), "state": "open"},
            "of a severity, unresolved": lambda: {"severity": self._severity(), "caseState": "unresolved"},
            "of a rule, detected in a day": lambda: {
                "ruleId": self._rule(), **self._span("detectedFrom", "detectedTo", DAY_MS),
            },
            "large amounts, open": lambda: {"minAmount": 90_000, "state": "open"},
            "large amounts, unresolved": lambda: {"minAmount": 90_000, "caseState": "unresolved"},
            "of somebody, of a rule": lambda: {
                "assignee": f"analyst-{self._number() % ASSIGNEES}", "ruleId": self._rule(),
            },
        }  # fmt: skip

    def _list(self, query: Callable[[], Query]) -> Call:
        return lambda: self._client.get("/v1/alerts", params={"limit": 50, **query()})

    def _summary(self, query: Callable[[], Query]) -> Call:
        return lambda: self._client.get("/v1/alerts/summary", params=query())

    def _number(self) -> int:
        return int(next(self._numbers))

    def _rule(self) -> int:
        return 1 + self._number() % RULES

    def _payee(self) -> str:
        return f"payeeId:{self._number() % PAYEES}"

    def _severity(self) -> str:
        return SEVERITIES[self._number() % len(SEVERITIES)]

    def _span(self, begin: str, end: str, length: int) -> Query:
        latest = END - self._number() * 1000 % (MONTH_MS - length)
        return {begin: latest - length, end: latest}

    def _first_cursors(self) -> list[str]:
        """From a dozen places of the list, days apart."""
        return [str(httpx.URL(self._page_to(part).links["next"]["url"]).params) for part in range(PLACES)]

    def _page_to(self, part: int) -> httpx.Response:
        query = {"limit": 50, "to": END - part * MONTH_MS // PLACES}
        return self._client.get("/v1/alerts", params=query).raise_for_status()

    def _ids_of(self, cursor: str) -> Iterator[str]:
        page = self._client.get("/v1/alerts", params=httpx.QueryParams(cursor)).raise_for_status()
        return (item["alertId"] for item in page.json()["items"])
