"""The port to whoever derives alerts again from what was judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol

Of = Literal["value", "limit"]
"""Whose contributors: those of a condition's value, or those of the measure that its limit was made of."""


class Prover(Protocol):
    """Answers questions about alerts as alerts.v1 carries them.

    Every method raises ProofRefused, ProverBusy, ProverUnavailable.
    """

    def verify(self, alert: Mapping[str, Any]) -> dict[str, Any]:
        """The outcome of deriving the alert again, with the differences."""

    def window(
        self, alert: Mapping[str, Any], condition: int, of: Of, after: int, limit: int
    ) -> dict[str, Any]:
        """`limit` contributors of a condition, without the first `after`; `next` is where the next page begins."""

    def judge(self, transaction_id: str, event_time: int | None) -> dict[str, Any]:
        """What each rule made of a transaction; with its event time (ms) it is found sooner."""

    def close(self) -> None:
        """Free the connections."""
