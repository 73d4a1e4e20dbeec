"""A change is told with its estimate: of the revision that it is in, and why there is none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rules_registry.api.review.estimate_json import (
    NOBODY_ASKS,
    NOT_CONNECTED,
    NOT_WANTED,
    Making,
    estimated_json,
)
from rules_registry.api.review.estimate_schemas import EstimatedChangeSchema, EstimateSchema
from rules_registry.domain.audit.audit_entry import Subject
from rules_registry.domain.estimates.estimate import Estimate, EstimateBounds
from rules_registry.domain.review.change_request import ChangeRequest, Content
from tests.unit.engine.prover.support.fake_backtest import made_up_sample

NOW = 1_777_700_000_000
DAY_MS = 86_400_000
CONTENT = Content("PUBLISH_RULE", Subject("rule", "7"), {"name": "sums", "definition": {}})
CHANGE = ChangeRequest(3, 2, CONTENT, "SUBMITTED", ("ada",), NOW, NOW)
MAKING = Making(EstimateBounds(days=7), True, NOW)
DONE = Estimate(3, 2, "done", "key", 1, NOW, NOW + 5, result=made_up_sample())


def told(change: ChangeRequest, estimate: Estimate | None, making: Making = MAKING) -> Any:
    """As it leaves the API."""
    return EstimatedChangeSchema().dump(estimated_json(change, estimate, making, whole=True))["estimate"]


def test_figures_sample_and_first_day() -> None:
    actual = {"from": NOW, "until": NOW + DAY_MS, "alerts": 71, "groups": 28}
    said = told(CHANGE, replace(DONE, actual=actual))
    assert said["actual"] == {"from": NOW, "to": NOW + DAY_MS, "alerts": 71, "groups": 28}
    assert said["sample"] == {
        "parts": 4, "grouped": True, "from": 1_777_600_000_000, "to": 1_777_600_000_000 + 2 * DAY_MS,
        "transactions": 2_000, "seconds": 2,
    }  # fmt: skip
    assert said["figures"]["alertsPerDay"]["value"] == "60.0"
    assert said["figures"]["alertsPerDay"]["low"].isdigit(), "of a day there are whole ones"
    assert EstimateSchema().validate(said) == {}


def test_one_of_an_earlier_revision_is_none() -> None:
    said = told(replace(CHANGE, revision=3), DONE)
    assert (said["state"], said["figures"]) == ("waiting", None)


@pytest.mark.parametrize(
    ("change", "making", "note"),
    [
        (CHANGE, replace(MAKING, connected=False), NOT_CONNECTED),
        (CHANGE, replace(MAKING, bounds=EstimateBounds(days=0)), NOT_WANTED),
        (replace(CHANGE, state="WITHDRAWN"), MAKING, NOBODY_ASKS),
        (replace(CHANGE, changed_at=NOW - 8 * DAY_MS), MAKING, NOBODY_ASKS),
    ],
)
def test_why_there_will_be_none(change: ChangeRequest, making: Making, note: str) -> None:
    said = told(change, None, making)
    assert (said["state"], said["note"]) == ("unavailable", note)
    assert told(change, DONE, making)["state"] == "done", "what was made stays"


def test_what_publishes_no_rule_has_none() -> None:
    pause = Content("PAUSE_RULE", Subject("rule", "7"), {"base": 1})
    assert told(replace(CHANGE, content=pause), None) is None
