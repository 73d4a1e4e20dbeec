"""Queries of the stored alerts and their results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from alert_api.domain.cases.case import Standing
from alert_api.domain.cases.severity import Severity
from alert_api.domain.cases.work_events import Outcome
from alert_api.domain.events import AlertEvent, AlertId, Voiding
from alert_api.domain.lifecycle import AlertState


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """Every condition given must hold; `rule_ids` are of any of these rules, `transaction_id` is what triggered the
    alert. Times are ms since the epoch, both ends included: on event time, or on detection.

    :ivar severity: of the rule, as it is now
    :ivar min_amount: of what triggered the alert, in the event type's first measure, this one included
    :ivar case_state: of the alert's case, as outcome and assignee
    """

    rule_ids: tuple[int, ...] = ()
    rule_version: int | None = None
    group: tuple[tuple[str, str], ...] = ()
    state: AlertState | None = None
    earliest: int | None = None
    latest: int | None = None
    voided: bool | None = None
    transaction_id: str | None = None
    snooze_id: int | None = None
    snoozed: bool | None = None
    severity: Severity | None = None
    min_amount: Decimal | None = None
    max_amount: Decimal | None = None
    detected_from: int | None = None
    detected_to: int | None = None
    case_state: Standing | None = None
    outcome: Outcome | None = None
    assignee: str | None = None

    @property
    def asks_for_work(self) -> bool:
        """Whether the alert's case has to be looked at."""
        return self.case_state is not None or self.outcome is not None or self.assignee is not None


@dataclass(frozen=True, slots=True)
class Place:
    """The last alert of a page: the next one starts right after it in (event time down, id up)."""

    event_time: int
    alert_id: AlertId


@dataclass(frozen=True, slots=True)
class StoredAlert:
    """An alert's text as it came, who has it in hand, what it rests on that was voided, by position, the snooze that
    covers it, if any, and the case that it is in: None of a snoozed one, and before it is folded.

    :ivar text: a JSON object, of which rule and group are told apart: a page of alerts reads no text
    """

    alert_id: AlertId
    event_time: int
    rule_id: int
    group: Mapping[str, str]
    text: str
    acknowledged_by: str | None
    acknowledged_at: int | None
    acknowledgement_comment: str | None
    voided: tuple[Voiding, ...] = ()
    snooze_id: int | None = None
    case_id: int | None = None

    @property
    def content(self) -> dict[str, Any]:
        """What the text says; read anew each time."""
        content: dict[str, Any] = json.loads(self.text)
        return content

    @property
    def state(self) -> AlertState:
        return "open" if self.acknowledged_at is None else "acknowledged"

    @property
    def place(self) -> Place:
        return Place(self.event_time, self.alert_id)


@dataclass(frozen=True, slots=True)
class Page:
    """Some alerts, newest first; ``following`` is None on the last page."""

    alerts: tuple[StoredAlert, ...]
    following: Place | None


class AlertReader(Protocol):
    """The stored alerts, to look at. All raise StoreUnavailable when the database is away."""

    def page(self, alert_filter: AlertFilter, after: Place | None, limit: int) -> Page:
        """At most ``limit`` alerts after ``after``."""

    def get(self, alert_id: AlertId) -> StoredAlert:
        """One alert. Raises AlertNotFound."""

    def events_of(self, alert_id: AlertId) -> Sequence[AlertEvent]:
        """The alert's events, oldest first; empty when there is no such alert."""

    def check(self) -> None:
        """Return if alerts can be read now."""
