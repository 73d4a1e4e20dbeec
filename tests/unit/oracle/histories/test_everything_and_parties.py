"""Random histories with rules by a party: entries of both sides are alerted about, in every form of a rule."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.oracle import judge
from tests.oracle.generators.profile import EVERYTHING_AND_PARTIES
from tests.oracle.histories.random_history import random_history

pytestmark = pytest.mark.slow  # all of them together

SEEDS = range(6)


def test_every_form_is_alerted_about() -> None:
    alerts = Counter[str]()
    for seed in SEEDS:
        for alert in judge(random_history(seed, EVERYTHING_AND_PARTIES)).alerts:
            if "side" not in alert:
                alerts["by fields"] += 1
                continue
            alerts[str(alert["side"])] += 1
            alerts["chained" if "conditions" in alert else "plain"] += 1
            alerts["caught up"] += bool(alert["partial"])
            alerts["behind"] += "limitMeasure" in json.dumps(alert)
            pair = {alert["transaction"].get(name, name) for name in ("payeeId", "beneficiaryId")}  # type: ignore[union-attr]
            alerts["of itself"] += len(pair) == 1
    print(f"alerts: {dict(alerts)}")
    forms = ("by fields", "payer", "payee", "plain", "chained", "caught up", "behind", "of itself")
    assert all(alerts[form] >= 5 for form in forms), alerts
