"""Random histories with every option turned on, and their outcomes, computed once."""

from __future__ import annotations

import json
from functools import cache

from tests.oracle import MicroBatch, Outcome, judge
from tests.oracle.generators.profile import EVERYTHING
from tests.oracle.histories.random_history import random_history
from tests.oracle.values.model import Json

SEEDS = range(30)


@cache
def histories() -> tuple[list[MicroBatch], ...]:
    return tuple(random_history(seed, EVERYTHING) for seed in SEEDS)


@cache
def outcomes() -> tuple[Outcome, ...]:
    return tuple(judge(history) for history in histories())


def events(history: list[MicroBatch]) -> list[dict[str, Json]]:
    """Every rule event that is one."""
    return [
        json.loads(raw) for batch in history for raw in batch.rule_events if raw.startswith(b'{"eventId"')
    ]
