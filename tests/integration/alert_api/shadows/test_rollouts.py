"""Rollouts in a real Postgres: what may be stored of which version, both arms, and what both versions gave."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest

from alert_api.adapters.cases.postgres_case_desk import PostgresCaseDesk
from alert_api.adapters.cases.postgres_cases import PostgresCases
from alert_api.adapters.postgres_alerts import open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.adapters.shadows.postgres_shadows import PostgresShadows
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.subject import Subject
from alert_api.domain.cases.work import Resolve
from alert_api.domain.performance.arms import ArmSums, RolloutSpan
from alert_api.errors import RecordNotStorable
from alert_api.service.alert_counts import HOUR_MS, Span
from alert_api.service.cases.case_queries import CaseFilter
from alert_api.service.cases.case_work import Origin
from alert_api.service.shadows.shadow_comparison import Arms, HourOfBoth, ShadowComparison
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import count
from tests.integration.alert_api.support.shadow_intake import store
from tests.registry_log import VERSIONS
from tests.unit.alert_api.support.samples import EPOCH, alert

pytestmark = pytest.mark.integration

EVENTS = """
INSERT INTO registry.rule_events (position, event_id, type, rule_id, version, occurred_at, actor, body)
VALUES (%s, gen_random_uuid(), %s, %s, %s, %s, 'test', %s)
"""
NOON = EPOCH - EPOCH % HOUR_MS
ACTIVE, SHADOW = VERSIONS, VERSIONS + 1
ALWAYS = Span(NOON, NOON + 10 * HOUR_MS)
_RULES, _NUMBERS = itertools.count(1), itertools.count(1)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that no other test has, whose newest version is on trial from noon on."""

    rule_id: int
    database: AlertsDatabase

    def happens(self, kind: str, hours: float, percent: int | None = None) -> None:
        """The registry's next event of the rule, so many hours after noon."""
        with psycopg.connect(self.database.owner) as connection:
            (last,) = connection.execute(
                "SELECT max(version) FROM registry.rule_events WHERE rule_id = %s", (self.rule_id,)
            ).fetchone() or (0,)
            body = {"definitionVersion": SHADOW, **({} if percent is None else {"percent": percent})}
            time = NOON + int(hours * HOUR_MS)
            row = (
                9_000_000 + 100 * self.rule_id + last,
                kind,
                self.rule_id,
                last + 1,
                time,
                json.dumps(body),
            )
            connection.execute(EVENTS, row)

    def gives(self, version: int, payee: str, hours: float, *, mode: str = "live", name: str = "") -> Any:
        """An alert about that payee, so many hours after noon; `name` is the transaction's."""
        number, time = next(_NUMBERS), NOON + int(hours * HOUR_MS)
        made = alert(number, ruleId=self.rule_id, ruleVersion=version, group={"payeeId": payee}, mode=mode)
        made |= {"eventTime": time, "windowStart": time - 60_000, "windowEnd": time, "detectedAt": time + 80}
        made["transaction"] |= {"transactionId": name or f"t{number}", "eventTime": time, "payeeId": payee}
        return made


@pytest.fixture
def rule(alerts_database: AlertsDatabase) -> Rule:
    with psycopg.connect(alerts_database.owner) as connection:
        connection.execute("TRUNCATE alerts.shadow_alerts")
    made = Rule(next(_RULES), alerts_database)
    made.happens("RuleShadowStarted", 0)
    return made


@pytest.fixture
def filing(alerts_database: AlertsDatabase) -> Iterator[PostgresIntake]:
    """An intake that has one case for all alerts of a payee."""
    with PostgresIntake(alerts_database.projector, CasePolicy(None, ("payeeId",))) as opened:
        yield opened


def compared(rule: Rule, span: Span = ALWAYS) -> ShadowComparison:
    pool = open_pool(rule.database.api, 1)
    try:
        return PostgresShadows(pool).compare(rule.rule_id, SHADOW, span)
    finally:
        pool.close()


def arms(rule: Rule, span: Span = ALWAYS) -> Arms:
    told = compared(rule, span).arms
    assert told is not None
    return told


def test_before_the_first_rollout_alerts_are_where_they_always_are(
    rule: Rule, intake: PostgresIntake
) -> None:
    with pytest.raises(RecordNotStorable, match=f"version {SHADOW} of rule .* was never published"):
        store(intake, rule.gives(SHADOW, "1", 1))
    with pytest.raises(RecordNotStorable, match=f"version {ACTIVE} of rule .* was never started as a shadow"):
        store(intake, rule.gives(ACTIVE, "1", 1, mode="shadow"))
    assert compared(rule).arms is None


def test_from_the_first_rollout_on_both_versions_may_alert_in_either_topic(
    rule: Rule, intake: PostgresIntake
) -> None:
    rule.happens("RuleShadowRolledOut", 1, 10)
    both = [
        rule.gives(version, "1", 2, mode=mode) for version in (ACTIVE, SHADOW) for mode in ("live", "shadow")
    ]
    older = rule.gives(ACTIVE - 1, "1", 2, mode="shadow")
    assert store(intake, *both, older) == 5, "an older version judges what came late"
    assert (count(rule.database.owner, "alerts"), count(rule.database.owner, "shadow_alerts")) == (2, 3)
    assert count(rule.database.owner, "cases") == 1, "they are alerts of the rule"
    rule.happens("RulePublished", 3)
    with pytest.raises(RecordNotStorable, match=f"version {SHADOW + 2} .* was never started as a shadow"):
        store(intake, rule.gives(SHADOW + 2, "1", 4, mode="shadow"))


def test_alerts_count_in_their_arm_with_the_share_of_the_other(rule: Rule, intake: PostgresIntake) -> None:
    rule.happens("RuleShadowRolledOut", 1, 10)
    rule.happens("RuleShadowRolledOut", 3, 40)
    store(
        intake,
        rule.gives(ACTIVE, "1", 0.5),  # before it was rolled out
        *(rule.gives(SHADOW, "1", hours) for hours in (1.5, 2, 3.5)),
        rule.gives(SHADOW, "2", 4),
        *(rule.gives(ACTIVE, payee, 2) for payee in ("2", "3")),
        *(rule.gives(ACTIVE, "3", hours) for hours in (4, 5)),
        rule.gives(ACTIVE, "1", 2, mode="shadow"),  # which nobody was told of
        rule.gives(SHADOW, "3", 2, mode="shadow"),
    )
    told = arms(rule)
    assert told.spans == [
        RolloutSpan(10, NOON + HOUR_MS, NOON + 3 * HOUR_MS),
        RolloutSpan(40, NOON + 3 * HOUR_MS, ALWAYS.latest + 1),
    ]
    first, second = 90 + 90 + 60, 60
    assert told.trial.sums == ArmSums(2, 4, first + second, first**2 + second**2)
    assert told.active.sums == ArmSums(2, 4, 10 + 10 + 40 + 40, 10**2 + 90**2)
    part = arms(rule, Span(NOON + 3 * HOUR_MS, NOON + 4 * HOUR_MS - 1))
    assert part.spans == [RolloutSpan(40, NOON + 3 * HOUR_MS, NOON + 4 * HOUR_MS)]
    assert (part.trial.sums, part.active.sums) == (ArmSums(1, 1, 60, 3_600), ArmSums())
    assert compared(rule, Span(NOON, NOON + HOUR_MS - 1)).arms is None


def test_both_are_compared_wherever_their_alerts_are(rule: Rule, intake: PostgresIntake) -> None:
    """A shadow alone gives the same comparison: where an alert goes says nothing of who gave it."""
    rule.happens("RuleShadowRolledOut", 1, 50)
    store(
        intake,
        rule.gives(ACTIVE, "1", 0.5, name="early"),
        rule.gives(SHADOW, "1", 0.5, name="early", mode="shadow"),
        rule.gives(SHADOW, "1", 2, name="a"),
        rule.gives(ACTIVE, "1", 2, name="a", mode="shadow"),
        rule.gives(SHADOW, "1", 2.1, name="b"),
        rule.gives(ACTIVE, "1", 2.2, name="c", mode="shadow"),
        rule.gives(ACTIVE, "2", 2.3, name="d"),
        rule.gives(SHADOW, "2", 2.3, name="d", mode="shadow"),
        rule.gives(ACTIVE, "2", 2.4, name="e"),
    )
    noon, told = NOON // HOUR_MS, compared(rule)
    assert told.hours == [HourOfBoth(noon, 1, 0, 0), HourOfBoth(noon + 2, 2, 2, 1)]
    assert [one.transaction_id for one in told.newest_only_active] == ["e", "c"]
    assert [one.transaction_id for one in told.newest_only_shadow] == ["b"]


@pytest.mark.parametrize("kind", ["RuleShadowPromoted", "RuleShadowEnded"])
def test_what_comes_after_its_end_is_in_no_arm(rule: Rule, intake: PostgresIntake, kind: str) -> None:
    rule.happens("RuleShadowRolledOut", 1, 50)
    rule.happens(kind, 3)
    promoted = kind == "RuleShadowPromoted"
    store(
        intake,
        rule.gives(SHADOW, "1", 2),
        rule.gives(ACTIVE, "2", 2),
        rule.gives(SHADOW if promoted else ACTIVE, "2", 4),
    )
    told = arms(rule)
    assert [span.until for span in told.spans] == [NOON + 3 * HOUR_MS]
    assert (told.trial.sums.alerts, told.active.sums.alerts) == (1, 1)
    noon = NOON // HOUR_MS
    after = [] if promoted else [HourOfBoth(noon + 4, 0, 1, 0)]
    assert compared(rule).hours == [HourOfBoth(noon + 2, 0, 1, 1), *after]


def test_a_case_is_judged_for_the_arms_that_have_alerts_in_it(rule: Rule, filing: PostgresIntake) -> None:
    rule.happens("RuleShadowRolledOut", 1, 50)
    store(
        filing,
        rule.gives(SHADOW, "1", 2),
        *(rule.gives(ACTIVE, payee, 2) for payee in ("2", "3")),
        *(rule.gives(version, "4", 2) for version in (ACTIVE, SHADOW)),
        rule.gives(ACTIVE, "5", 0.5),  # of before
    )
    outcomes = {"1": "confirmed_fraud", "2": "false_positive", "4": "known_accepted", "5": "false_positive"}
    pool = open_pool(rule.database.api, 2)
    try:
        cases = {
            one.case.subject.text: one.case for one in PostgresCases(pool).page(CaseFilter(), None, 100).cases
        }
        for payee, outcome in outcomes.items():
            case = cases[Subject.of_field("payeeId", payee).text]
            command = Resolve(actor="ada", now=case.opened_at + 5, outcome=outcome, comment="")  # type: ignore[arg-type]
            PostgresCaseDesk(pool).work(case.case_id, command, lambda _: True, Origin("r1"))
    finally:
        pool.close()
    told = arms(rule)
    assert told.trial.cases == {"confirmed_fraud": 1, "known_accepted": 1}
    assert told.active.cases == {"false_positive": 1, "known_accepted": 1}
