"""The span of event times that a certificate is about."""

from __future__ import annotations

from dataclasses import dataclass

from tripline_contracts.cloudevents import rfc3339


@dataclass(frozen=True, slots=True)
class Span:
    """Event times of alerts in ms: from the first on, and before the second."""

    first: int
    until: int

    def __contains__(self, event_time: int) -> bool:
        return self.first <= event_time < self.until

    def __str__(self) -> str:
        return f"{rfc3339(self.first)} to {rfc3339(self.until)}"
