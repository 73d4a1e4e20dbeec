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
    """One alert; `digest` is of all of it but when it was detected, and in which mode. Empty where nobody compares."""

    alert_id: str
    event_time: int
    digest: bytes
    alert: dict[str, Any]

    @property
    def identity(self) -> bytes:
        """Id and digest: equal for alerts that say the same."""
        return self.alert_id.encode() + self.digest


class AlertReader:
    """Reads values of alerts.v1; to digest them takes longer than all else, and is for those that are compared."""

    def __init__(self, event_type: EventType, span: Span, *, is_compared: bool = True) -> None:
        self._time_field, self._span, self._is_compared = event_type.time_field.name, span, is_compared

    def read(self, value: bytes | None) -> SpanAlert | None:
        """The alert; None if its event time is outside of the span, or if it is no alert that an engine wrote."""
        try:
            alert = msgspec.json.decode(value or b"")
            event_time, alert_id = alert["transaction"][self._time_field], alert["alertId"]
            if not isinstance(event_time, int) or event_time not in self._span:
                return None
            digest = alert_digest(alert) if self._is_compared else b""
            return SpanAlert(str(alert_id), event_time, digest, alert)
        except (
            msgspec.MsgspecError,
            UnicodeDecodeError,
            RecursionError,
            LookupError,
            TypeError,
            NotCanonical,
        ):
            return None
