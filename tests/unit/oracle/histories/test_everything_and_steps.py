"""Random histories with groupings by amounts in steps: rules of every form are alerted about, behind limits too."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.oracle import judge
from tests.oracle.generators.profile import EVERYTHING_AND_STEPS
from tests.oracle.histories.random_history import random_history

pytestmark = pytest.mark.slow  # all of them together

SEEDS = range(6)


def test_every_form_is_alerted_about() -> None:
    alerts = Counter[str]()
    for seed in SEEDS:
        for text in map(json.dumps, judge(random_history(seed, EVERYTHING_AND_STEPS)).alerts):
            alert = json.loads(text)
            conditions = alert.get("conditions", [])
            alerts["plain"] += "groupingKeyNames" in alert
            alerts["chained"] += any(_stepped(condition) for condition in conditions)
            alerts["behind"] += any(_stepped(condition.get("limitMeasure", {})) for condition in conditions)
    print(f"alerts in steps: {dict(alerts)}")
    assert all(alerts[form] >= 10 for form in ("plain", "chained", "behind"))


def _stepped(measured: dict[str, object]) -> bool:
    return '"step"' in json.dumps(measured.get("groupingKeyNames"))
