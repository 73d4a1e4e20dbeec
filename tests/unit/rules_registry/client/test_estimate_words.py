"""An estimate in a terminal: the figures with their ranges, or how far it is."""

from __future__ import annotations

from typing import Any

import pytest

from rules_registry.client.estimate_words import estimate_lines
from tests.browser.support.made_up_estimate import made_up_estimate


def test_figures_with_their_ranges_and_the_first_day_beside() -> None:
    figures, basis, actual = estimate_lines(made_up_estimate())
    assert figures == (
        "estimate: 60.0 (21 to 116) alerts a day, of 30.0 (12 to 54) groups; 4.3 MiB (4.2 MiB to 4.4 MiB) held;"
        " 4.000 (3.998 to 4.002) evaluations a second"
    )
    assert (
        basis
        == "from 1/4 of the groups over 2 days; in 95 of 100 cases a day lies within the range in brackets"
    )
    assert actual == "first day: 71 alerts of 28 groups in 24 hours"


def test_a_rule_with_one_group_has_no_range_of_what_it_costs() -> None:
    made_up = made_up_estimate(actual=None)
    made_up["sample"] |= {"grouped": False, "parts": 1}
    made_up["figures"] |= {"bytes": {"value": "900", "low": None, "high": None}}
    figures, basis = estimate_lines(made_up)
    assert " 900 B held;" in figures
    assert basis.startswith("from the one group over")


@pytest.mark.parametrize(
    ("told", "lines"),
    [
        ({"state": "waiting"}, ["estimate: not yet"]),
        (
            {"state": "waiting", "note": "The prover does not answer."},
            ["estimate: not yet (The prover does not answer.)"],
        ),
        ({"state": "running"}, ["estimate: it is being made"]),
        (
            {"state": "failed", "failure": "there is no history"},
            ["estimate: failed, because there is no history"],
        ),
        ({"state": "unavailable", "note": "Not here."}, ["estimate: none (Not here.)"]),
    ],
)
def test_how_far_it_is(told: dict[str, Any], lines: list[str]) -> None:
    assert list(estimate_lines({**made_up_estimate(), **told})) == lines


def test_of_other_changes_nothing_is_said() -> None:
    assert list(estimate_lines(None)) == []
