"""An alert of the span, and its digest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from tripline_contracts.errors import NotCanonical
from tripline_contracts.event_type import EventType
from tripline_engine.certificate.span import Span
from tripline_engine.domain.proof.alert_digest import alert_digest


@dataclass(frozen=True, slots=True)
class SpanAlert:
    """One alert; `digest` is of all of it but when it was detected, and in which mode."""

    alert_id: str
    event_time: int
    digest: bytes
    alert: dict[str, Any]

    @property
    def identity(self) -> bytes:
        """Id and digest: equal for alerts that say the same."""
        return self.alert_id.encode() + self.digest


class AlertReader:
    """Reads values of alerts.v1."""

    def __init__(self, event_type: EventType, span: Span) -> None:
        self._time_field, self._span = event_type.time_field.name, span

    def read(self, value: bytes | None) -> SpanAlert | None:
        """The alert; None if its event time is outside of the span, or if it is no alert that an engine wrote."""
        try:
            alert = msgspec.json.decode(value or b"")
            event_time, alert_id = alert["transaction"][self._time_field], alert["alertId"]
            if not isinstance(event_time, int) or event_time not in self._span:
                return None
            return SpanAlert(str(alert_id), event_time, alert_digest(alert), alert)
        except (
            msgspec.MsgspecError,
            UnicodeDecodeError,
            RecursionError,
            LookupError,
            TypeError,
            NotCanonical,
        ):
            return None
