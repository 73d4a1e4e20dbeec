"""Comparison of the alerts that are derived with those that were told."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tripline_engine.certificate.span_alert import AlertReader, SpanAlert
from tripline_engine.certificate.told_alerts import ToldAlerts
from tripline_engine.domain.proof.differences import differences

LISTED: Final = 20
"""Alerts that differ and are described, at most; all are counted."""


@dataclass(slots=True)
class Comparison:
    """What was derived so far, beside what was told.

    :ivar matched: ids with digests of the alerts that were told as they are derived
    :ivar not_told: derived alerts that were not told so, the first ones
    """

    told: ToldAlerts
    matched: set[bytes] = field(default_factory=set)
    not_told: list[SpanAlert] = field(default_factory=list)
    not_told_count: int = 0
    _left: set[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self._left = set(self.told.places)

    @property
    def not_derived_count(self) -> int:
        """Alerts that were told and of which none like them is derived."""
        return len(self._left)

    def take(self, alert: SpanAlert, *, is_settled: bool) -> None:
        """A derived alert.

        :param is_settled: whether it must have been told: the engine has gone on since
        """
        identity = alert.identity
        if identity in self._left:
            self._left.remove(identity)
            self.matched.add(identity)
        elif is_settled and identity not in self.matched:
            self.not_told_count += 1
            if len(self.not_told) < LISTED:
                self.not_told.append(alert)

    def digest(self) -> str:
        """SHA-256 over the alerts that match, by id: as many as there are, in whatever order they came."""
        whole = hashlib.sha256()
        for identity in sorted(self.matched):
            whole.update(identity)
        return whole.hexdigest()

    def described(self, reader: AlertReader) -> Iterator[Mapping[str, Any]]:
        """The first alerts that differ: by event time, each with what differs in it."""
        told = [self.told.alert_at(first, reader) for first in self._first_places()]
        mine = {alert.alert_id: alert for alert in self.not_told}
        theirs = {alert.alert_id: alert for alert in told}
        both = sorted({**mine, **theirs}.values(), key=lambda alert: (alert.event_time, alert.alert_id))
        for alert in both[:LISTED]:
            derived, stored = mine.get(alert.alert_id), theirs.get(alert.alert_id)
            yield {
                "alertId": alert.alert_id,
                "ruleId": alert.alert["ruleId"],
                "ruleVersion": alert.alert["ruleVersion"],
                "eventTime": alert.event_time,
                "difference": _kind(derived, stored),
                "members": [one.to_json() for one in differences(stored.alert, derived.alert)]
                if derived and stored
                else [],
            }

    def _first_places(self) -> list[tuple[int, int]]:
        ids = {alert.alert_id.encode() for alert in self.not_told}
        of_both = [identity for identity in self._left if identity[:-32] in ids]
        others = sorted(self._left.difference(of_both), key=lambda identity: self.told.places[identity])
        return [self.told.places[identity] for identity in [*of_both, *others][: 2 * LISTED]]


def _kind(derived: SpanAlert | None, stored: SpanAlert | None) -> str:
    if derived is None:
        return "not derived"
    return "not told" if stored is None else "altered"
