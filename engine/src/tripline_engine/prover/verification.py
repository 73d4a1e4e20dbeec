"""Verification of an alert: derived again, and compared member by member."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from tripline_engine.domain.proof.claim import Claim
from tripline_engine.domain.proof.differences import Difference, as_told, differences
from tripline_engine.prover.budget import Budget
from tripline_engine.prover.derivation import Derivation, derive
from tripline_engine.prover.settings import Judged
from tripline_engine.rebuild.journals import Journals


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome. Without differences the alert is what the recorded order brings about."""

    differences: tuple[Difference, ...]
    derivation: Derivation
    budget: Budget

    @property
    def matches(self) -> bool:
        """Whether the alert is proven."""
        return not self.differences

    def to_json(self) -> dict[str, Any]:
        """As the prover answers it: with the alert as an engine would have told it."""
        derived = self.derivation
        return {
            "outcome": "match" if self.matches else "mismatch",
            "differences": [difference.to_json() for difference in self.differences],
            "derived": None if derived.alert is None else as_told(derived.alert),
            "engine": derived.engine,
            "microBatch": derived.micro_batch,
            "evaluator": version("tripline-engine"),
            "read": {
                "transactions": self.budget.read,
                "selected": self.budget.selected,
                "seconds": round(self.budget.seconds, 3),
            },
        }


def verify(alert: Mapping[str, Any], journals: Journals, judged: Judged, budget: Budget) -> Verification:
    """Verifies an alert as alerts.v1 carries it. Raises NoProof, UnreadableClaim."""
    claim = Claim.of(alert, judged.event_type)
    derived = derive(claim, journals, judged, budget)
    every = [Difference("history", "", None, doubt) for doubt in derived.doubts]
    if derived.alert is None:
        every.append(_not_derived(claim, derived))
    else:
        every += differences(alert, derived.alert)
    return Verification(tuple(every), derived, budget)


def _not_derived(claim: Claim, derived: Derivation) -> Difference:
    if not derived.seen:
        reason = (
            f"transaction {claim.transaction_id} of event time {claim.event_time} is not among those of"
            f" {_group(claim)} that engine {derived.engine} judged"
        )
    else:
        reason = (
            f"engine {derived.engine} judged transaction {claim.transaction_id}, and version {claim.version} of rule"
            f" {claim.rule_id} raises no alert for it over what it had accepted until then"
        )
    return Difference("not_derived", "", None, reason)


def _group(claim: Claim) -> str:
    return ", ".join(f"{name} {value}" for name, value in claim.group) or "the one group"
