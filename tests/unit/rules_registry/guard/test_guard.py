"""The guard's look at the rules: which versions it compares, and when it leaves a rule alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

from rules_registry.client.alerts_client import AlertsClient
from rules_registry.client.errors import RegistryUnreachable, RequestRefused
from rules_registry.client.guard import Guard, words
from rules_registry.client.guard_loop import MISSED, Rounds
from rules_registry.client.registry_client import Outcome, RegistryClient
from rules_registry.domain.guard.alert_rate import HOUR_MS, Limits
from rules_registry.domain.rule_files.standing import StandingRule
from tests.unit.rules_registry.support.rule_files import MUCH, change, desired, standing
from tests.unit.rules_registry.support.samples import NOW

(RULE,) = desired(MUCH)
CHANGED = NOW - HOUR_MS // 2
PUBLISHED = NOW - 3 * HOUR_MS
LIMITS = Limits(factor=10, least=100, first=1_000)


@dataclass
class Services:
    """Rule 7: version 1, paused as version 2, changed as version 3; `counts` are its alerts by version."""

    counts: dict[int, int] = field(default_factory=lambda: {1: 30, 3: 400})
    rule_now: StandingRule = field(default_factory=lambda: replace(standing(RULE), definition_version=3))
    asked_before: bool = False
    refused: str | None = None
    open_change: int | None = None
    asked: list[tuple[str, bool]] = field(default_factory=list)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    began: dict[int, int] = field(default_factory=lambda: {1: PUBLISHED, 3: CHANGED})

    def rule(self, reference: str) -> StandingRule:
        assert reference == "7"
        return self.rule_now

    def version(self, rule_id: int, version: int) -> dict[str, Any]:
        of_definition = 1 if version < 3 else 3
        began = self.began[of_definition]
        return {
            "ruleId": rule_id, "version": version, "definitionVersion": of_definition,
            "effectiveFrom": began - 1 if of_definition == 1 else 0, "occurredAt": began,
        }  # fmt: skip

    def was_asked_to_pause(self, rule_id: int, since: int) -> bool:
        assert (rule_id, since) == (7, self.rule_now.version)
        return self.asked_before

    def pause(self, rule: StandingRule, reason: str, *, at_once: bool) -> Outcome:
        if self.refused is not None:
            raise RequestRefused(409, self.refused, "no", [], self.open_change)
        self.asked.append((reason, at_once))
        return replace(rule, state="PAUSED") if at_once else change(RULE, kind="PAUSE_RULE")

    def by_rule(self, earliest: int, latest: int) -> dict[int, int]:
        assert (earliest, latest) == (NOW - HOUR_MS + 1, NOW)
        return {7: sum(self.counts.values())}

    def of_version(self, rule_id: int, version: int, earliest: int, latest: int) -> int:
        assert rule_id == 7
        self.spans[version] = (earliest, latest)
        return self.counts.get(version, 0)

    def guard(self, *, pauses: bool = False) -> Guard:
        registry, alerts = cast("RegistryClient", self), cast("AlertsClient", self)
        return Guard(registry, alerts, LIMITS, lambda: NOW, pauses=pauses)


def test_a_version_beyond_its_limit_is_for_a_second_person() -> None:
    services = Services()
    (finding,) = services.guard().round()
    assert services.asked == [(finding.reason, False)]
    assert finding.reason == (
        "Version 3 alerted 400 times within an hour, the version before it 12.0 times an hour; 10 times that is "
        "allowed."
    )
    assert words(finding) == "Change 12 asks to pause it."
    # the last hour of the one, the whole life of the other: two and a half hours
    assert services.spans == {3: (NOW - HOUR_MS + 1, NOW), 1: (PUBLISHED, CHANGED - 1)}


def test_with_the_setting_it_is_paused_at_once() -> None:
    services = Services()
    (finding,) = services.guard(pauses=True).round()
    assert services.asked == [(finding.reason, True)]
    assert words(finding) == "It is paused."


def test_of_a_long_life_the_last_day_counts() -> None:
    services = Services(began={1: 0, 3: CHANGED})
    services.guard().round()
    assert services.spans[1] == (CHANGED - 24 * HOUR_MS, CHANGED - 1)


LEFT_ALONE: list[tuple[Services, str]] = [
    (Services(counts={1: 30, 3: 99}), "too few"),
    (Services(counts={1: 100, 3: 400}), "not that much more"),
    (Services(rule_now=replace(standing(RULE), definition_version=3, state="PAUSED")), "paused already"),
    (Services(rule_now=replace(standing(RULE), definition_version=3, version=5)), "paused and resumed meanwhile"),
    (Services(asked_before=True), "somebody has decided on it"),
    (Services(began={1: 0, 3: NOW - 24 * HOUR_MS - 1}), "no longer new"),
    (Services(refused="stale-version"), "changed in between"),
]  # fmt: skip


@pytest.mark.parametrize(("services", "reason"), LEFT_ALONE, ids=[case[-1] for case in LEFT_ALONE])
def test_left_alone(services: Services, reason: str) -> None:
    assert services.guard().round() == [], reason
    assert services.asked == []


def test_an_open_change_stands_in_its_way_and_is_told() -> None:
    (finding,) = Services(refused="open-change", open_change=12).guard().round()
    assert words(finding) == "Nothing was asked for: change 12 of the rule is open."


def test_another_refusal_is_an_error() -> None:
    with pytest.raises(RequestRefused):
        Services(refused="forbidden").guard().round()


def test_rounds_count_and_a_service_that_is_away_is_not_the_end() -> None:
    metrics, services = CollectorRegistry(), Services()
    rounds = Rounds(services.guard(), 60.0, metrics)
    with pytest.raises(RuntimeError, match=f"within {MISSED} rounds"):
        rounds.check()
    assert rounds.one()
    rounds.check()
    services.by_rule = _away  # type: ignore[method-assign]
    assert not rounds.one()
    values = [
        metrics.get_sample_value("tripline_guard_rounds_total", {"outcome": outcome})
        for outcome in ("done", "failed")
    ]
    assert (*values, metrics.get_sample_value("tripline_guard_findings_total")) == (1, 1, 1)


def test_a_change_that_stays_open_is_told_once_and_the_next_one_again() -> None:
    metrics, services = CollectorRegistry(), Services(refused="open-change", open_change=12)
    rounds = Rounds(services.guard(), 60.0, metrics)
    told = []
    for change_id in (12, 12, 13, 12, 13):
        services.open_change = change_id
        with capture_logs() as logs:
            rounds.one()
        told += [entry["outcome"] for entry in logs if entry["event"] == "guard_finding"]
    assert told == [f"Nothing was asked for: change {n} of the rule is open." for n in (12, 13)]
    assert metrics.get_sample_value("tripline_guard_findings_total") == 2
    assert metrics.get_sample_value("tripline_guard_rounds_total", {"outcome": "done"}) == 5


def _away(earliest: int, latest: int) -> dict[int, int]:
    raise RegistryUnreachable("away")
