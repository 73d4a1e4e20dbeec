"""Proofs over what an engine in memory has read and recorded."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.oracle.values.model import MicroBatch
from tests.unit.engine.rebuild.support.recorded_run import Recording
from tests.unit.engine.support.shard_harness import TRANSACTION, Engine
from tripline_contracts.event_type import EventType
from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.prover.budget import Budget
from tripline_engine.prover.settings import Judged
from tripline_engine.prover.verification import Verification, verify

JUDGED = Judged(TRANSACTION, "data")


def budget(transactions: int = 10**9) -> Budget:
    """One that a test does not exhaust unless it says so."""
    return Budget(time.monotonic, transactions, 100)


@dataclass(frozen=True)
class Run:
    """What was judged: alerts, and what is recorded of it."""

    alerts: list[dict[str, Any]]
    batches: Sequence[MicroBatch]
    said: Sequence[OutRecord]
    recording: Recording
    of: Judged = JUDGED

    def fresh(self, archive: Path | None = None) -> Run:
        """The same, recorded anew."""
        return replace(self, recording=Recording(self.batches, self.said, archive))

    def verify(self, alert: Mapping[str, Any], transactions: int = 10**9) -> Verification:
        """Verifies an alert."""
        return verify(alert, self.recording.journals, self.of, budget(transactions))


def judged(batches: Sequence[MicroBatch], shards: int = 1, event_type: EventType = TRANSACTION) -> Run:
    """An engine's run over a history."""
    engine = Engine(shards, event_type=event_type)
    engine.run(batches)
    return Run(
        engine.alerts(), batches, engine.out, Recording(batches, engine.out), Judged(event_type, "data")
    )
