"""Topics the engine reads and writes, by the contract's names; a deployment may prefix all of them."""

from __future__ import annotations

from typing import Final

RULES: Final = "rules.v1"
TICKS: Final = "engine-ticks.v1"
TRANSACTIONS: Final = "transactions.v1"
ALERTS: Final = "alerts.v1"
SHADOW_ALERTS: Final = "shadow-alerts.v1"
STATUS: Final = "rule-status.v1"
TRACES: Final = "rule-traces.v1"
REJECTS: Final = "rejected-transactions.v1"
ORDER: Final = "engine-order.v1"
