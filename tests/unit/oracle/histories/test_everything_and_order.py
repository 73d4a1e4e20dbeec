"""Random histories with deviations and with what looks at the transaction before: each is alerted about."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tests.oracle import judge
from tests.oracle.generators.profile import EVERYTHING_AND_ORDER
from tests.oracle.histories.random_history import random_history

pytestmark = pytest.mark.slow  # all of them together

SEEDS = range(6)
FUNCTIONS = ("SECONDS_SINCE_PREVIOUS", "SECONDS_SINCE_FIRST", "CHANGED", "STDDEV")


def test_each_is_alerted_about_and_has_no_value_now_and_then() -> None:
    alerts, without = Counter[str](), Counter[str]()
    for seed in SEEDS:
        for alert in judge(random_history(seed, EVERYTHING_AND_ORDER)).alerts:
            text = json.dumps(alert)
            conditions = json.loads(text).get("conditions", [])
            alerts.update(name for name in FUNCTIONS if f'"{name}"' in text)
            without.update(one["aggregatorFunctionType"] for one in conditions if one["value"] is None)
    print(f"alerts of chains by function: {dict(alerts)}; conditions without a value: {dict(without)}")
    assert all(alerts[name] >= 10 for name in FUNCTIONS)
    assert all(without[name] for name in ("SECONDS_SINCE_PREVIOUS", "CHANGED", "STDDEV"))
