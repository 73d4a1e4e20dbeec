"""The estimates of changes, as whoever has them made sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rules_registry.domain.estimates.estimate import Estimate, Wanted


class EstimateRows(Protocol):
    """Estimates within one look at the jobs."""

    def running(self) -> Sequence[tuple[Estimate, bool]]:
        """Those that are being made, and whether the change still asks for them: as it was then, and not given up."""

    def next_wanted(self, now_ms: int) -> Wanted | None:
        """The first rule that has none yet: what waits for an approver, then drafts, then what was approved meanwhile,
        the oldest first."""

    def keep(self, estimate: Estimate) -> None:
        """Writes how it stands, in place of one of an earlier revision."""

    def forget(self, estimate: Estimate) -> None:
        """Deletes it: its change does not ask for it any more."""

    def keep_actual(self, now_ms: int) -> int:
        """Writes beside estimates what their rules gave on the first day, where that is over; of how many."""
