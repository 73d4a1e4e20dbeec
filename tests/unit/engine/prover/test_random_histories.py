"""Alerts of random histories are proven, whatever the rules and whatever operators did meanwhile.

Each history has rules of all kinds (chained, bucketed, resetting, crossing, with cooldowns, judged again, caught up),
lists and parameters that change, parties and measured limits, late and repeated transactions, voids, clears and
backfills.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from tests.in_parts import in_parts
from tests.oracle.generators.profile import (
    EVERYTHING_AND_ENTRIES,
    EVERYTHING_AND_MEASURES,
    EVERYTHING_AND_MORE,
    EVERYTHING_AND_ORDER,
    THE_WHOLE_LANGUAGE,
    Profile,
)
from tests.oracle.histories.random_history import random_history
from tests.oracle.histories.seeds import seeds
from tests.unit.engine.prover.support.proofs import judged

PROFILES = [
    EVERYTHING_AND_MORE,
    replace(EVERYTHING_AND_MEASURES, bucketed=0.5, commands=0.9),
    replace(EVERYTHING_AND_ENTRIES, commands=0.9),
    replace(EVERYTHING_AND_ORDER, commands=0.4),
    THE_WHOLE_LANGUAGE,
    THE_WHOLE_LANGUAGE,
    replace(Profile(), commands=0.4),
]
FEW_STEPS = (3, 6)
"""Micro-batches of a history: an engine's time goes by their number, and as much happens in fewer of them."""
OF_EACH_KIND = 3
KINDS = ("plain", "chained", "bucketed", "late", "caught up", "judged again")


@in_parts(len(PROFILES), with_soak=8 * len(PROFILES))
def test_every_alert_is_proven(histories: range, record_property: Callable[[str, object], None]) -> None:
    logging.getLogger("tripline_engine").setLevel(logging.ERROR)
    seen: Counter[str] = Counter()

    def proven(seed: int, profile: Profile, shards: int) -> None:
        history, rng = random_history(seed, replace(profile, micro_batches=FEW_STEPS)), Random(seed)
        run = judged(history, shards=shards)
        by_kind: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for alert in run.alerts:
            by_kind.setdefault((kind_of(alert), alert.get("side", "no side")), []).append(alert)
        for (kind, side), alerts in sorted(by_kind.items()):
            for alert in rng.sample(alerts, min(OF_EACH_KIND, len(alerts))):
                verification = run.verify(alert)
                assert verification.matches, (alert, [one.to_json() for one in verification.differences])
                seen.update(
                    {kind, side, *(["measured limit"] if "limitMeasure" in json.dumps(alert) else [])}
                )
        seen["histories"] += 1

    for seed, draw in seeds(histories):
        proven(seed, PROFILES[seed % len(PROFILES)], draw.choice([1, 1, 2]))
    record_property("proven", f"{dict(seen)}")
    assert {*KINDS, "payer", "payee", "measured limit"} <= seen.keys()


def kind_of(alert: dict[str, Any]) -> str:
    """What is special about it; of several things the rarest."""
    if alert["partial"]:
        return "judged again" if alert["late"] and "transactionId" in alert["late"] else "caught up"
    if "precision" in alert:
        return "bucketed"
    if "conditions" in alert:
        return "chained"
    return "late" if alert["late"] else "plain"
