"""The widest windows after any changes, each reckoned from those before it, are those of all rules together."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.registry import DEFINITION
from tripline_contracts import event_type_loader
from tripline_contracts.rules.rule_definition import parse
from tripline_contracts.rules.widest_windows import widest_windows

pytestmark = pytest.mark.integration

TYPE = event_type_loader.load()
GROUPINGS = (["payeeId"], ["beneficiaryId"], ["payeeId", "beneficiaryId"])


def from_scratch(client: httpx.Client) -> list[dict[str, object]]:
    rules = client.get("/v1/rules", params={"limit": 100}).raise_for_status().json()["items"]
    return widest_windows(
        (rule["ruleId"], rule["definitionVersion"], parse(rule["definition"], TYPE)) for rule in rules
    )


def bodies(draw: random.Random) -> Iterator[dict[str, Any]]:
    """Rules of few groupings and windows, so that many are as wide as another one; some are chained."""
    while True:
        measured = {
            **DEFINITION,
            "groupingKeyNames": draw.choice(GROUPINGS),
            "windowSeconds": draw.choice((60, 120, 180)),
        }
        if draw.random() < 0.2:
            measured["precision"] = draw.choice(("bucketed(30)", "bucketed(60)"))
        if draw.random() < 0.3:
            measured.pop("precision", None)
            second = {**measured, "groupingKeyNames": ["payeeId"], "windowSeconds": draw.choice((60, 300))}
            yield {"conditions": {"all": [{**measured, "groupingKeyNames": ["payeeId"]}, second]}}
        else:
            yield measured


def test_they_are_those_of_all_rules_after_each_change(client: httpx.Client) -> None:
    draw = random.Random(7)
    drawn = bodies(draw)
    living: list[int] = []
    for _ in range(120):
        step = draw.choice(("publish", "change", "change", "pause", "resume", "delete"))
        path = f"/v1/rules/{draw.choice(living)}" if living else ""
        if step == "publish" or not living:
            living.append(client.post("/v1/rules", json=next(drawn)).raise_for_status().json()["ruleId"])
        elif step == "change":
            client.put(path, json=next(drawn), headers={"If-Match": "*"}).raise_for_status()
        elif step == "delete":
            client.delete(path, headers={"If-Match": "*"}).raise_for_status()
            living.remove(int(path.rpartition("/")[2]))
        else:
            client.post(f"{path}/{step}", headers={"If-Match": "*"})
        assert client.get("/v1/widest-windows").json()["items"] == from_scratch(client), step
