"""How a rule's alerts agree with what people decided: precision and recall."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tripline_engine.backtest.labels import Labels


@dataclass(slots=True)
class LabelTally:
    """Counts the alerts on labelled transactions. What nobody has decided counts neither way.

    :ivar found: ids of the transactions of fraud that were alerted on
    """

    labels: Labels
    on_fraud: int = 0
    on_false_positives: int = 0
    found: set[str] = field(default_factory=set)

    def take(self, transaction_id: str) -> None:
        """Counts an alert on this transaction."""
        fraud = self.labels.of.get(transaction_id)
        if fraud:
            self.on_fraud += 1
            self.found.add(transaction_id)
        elif fraud is not None:
            self.on_false_positives += 1

    def to_json(self) -> dict[str, Any]:
        """Precision is the share of fraud among alerts on labelled transactions, recall that of the fraud found among
        all of it; both null where there is nothing to divide by."""
        fraud = self.labels.fraud
        return {
            "fraud": fraud,
            "falsePositives": len(self.labels.of) - fraud,
            "alertsOnFraud": self.on_fraud,
            "alertsOnFalsePositives": self.on_false_positives,
            "fraudFound": len(self.found),
            "precision": _share(self.on_fraud, self.on_fraud + self.on_false_positives),
            "recall": _share(len(self.found), fraud),
        }


def _share(part: int, whole: int) -> str | None:
    return f"{part / whole:.4f}" if whole else None
