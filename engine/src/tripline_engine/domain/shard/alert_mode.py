"""Whether an alert counts, or is told apart: a shadow that is rolled out and its rule's versions share the groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tripline_contracts.rules.rollout import is_on_trial
from tripline_engine.domain.rules.rule_version import END_OF_TIME, RuleVersion

Mode = Literal["live", "shadow"]


def mode_of(version: RuleVersion, group: Mapping[str, str], time: int, shadow: RuleVersion | None) -> Mode:
    """The mode of the version's alert about a group at an event time (ms), beside the rule's shadow as it is now.

    Of what the shadow does not judge, before it is effective or afterwards, the rule's own versions tell in any case.
    """
    on_trial = shadow is not None and shadow.percent > 0 and _counts(shadow, group, time)
    return "live" if version.is_shadow == on_trial else "shadow"


def _counts(shadow: RuleVersion, group: Mapping[str, str], time: int) -> bool:
    if not shadow.effective_from <= time < shadow.judges_before(END_OF_TIME):
        return False
    return is_on_trial(shadow.rule_id, group, shadow.percent)
