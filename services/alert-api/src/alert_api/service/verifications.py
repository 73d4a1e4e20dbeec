"""What came of verifications of alerts, and the port to where that is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from alert_api.domain.events import AlertId


@dataclass(frozen=True, slots=True)
class KeptVerification:
    """One outcome; `verified_at` in ms since the epoch.

    :ivar engine: whose recorded order was followed
    :ivar evaluator: the version of the program that judged again, None where it did not say
    """

    outcome: str
    differences: Sequence[Mapping[str, Any]]
    engine: str
    evaluator: str | None
    verified_at: int
    actor: str


class VerificationLog(Protocol):
    """Outcomes by alert; nothing changes one. Raises StoreUnavailable."""

    def keep_verification(self, alert_id: AlertId, kept: KeptVerification) -> None:
        """One more."""

    def verifications_of(self, alert_id: AlertId, limit: int) -> Sequence[KeptVerification]:
        """The newest ``limit``, the newest first."""
