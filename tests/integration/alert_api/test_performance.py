"""What rules are worth, from alerts and resolved cases in a real Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from alert_api.adapters.cases.postgres_case_desk import PostgresCaseDesk
from alert_api.adapters.cases.postgres_cases import PostgresCases
from alert_api.adapters.performance.postgres_performance import PostgresPerformance
from alert_api.adapters.postgres_alerts import open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.subject import Subject
from alert_api.domain.cases.work import Acknowledge, Reopen, Resolve
from alert_api.service.alert_counts import Span
from alert_api.service.cases.case_queries import CaseFilter
from alert_api.service.cases.case_work import Origin
from alert_api.service.performance.rule_performance import DayCount, Spread, VersionKey
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.unit.alert_api.support.samples import EPOCH, alert, received

pytestmark = pytest.mark.integration

HOUR, DAY = 3_600_000, 86_400_000
ALWAYS = Span(0, EPOCH + 100 * DAY)


@dataclass(frozen=True, slots=True)
class Stored:
    """Of payees 1 to 6 an alert every two hours: first of rule 1, version 1, then of versions 1 and 2 of rule 2."""

    performance: PostgresPerformance
    desk: PostgresCaseDesk
    ids: dict[str, int]
    opened: dict[str, int]

    def do(self, payee: str, *commands: Acknowledge | Resolve | Reopen) -> None:
        for command in commands:
            self.desk.work(self.ids[payee], command, lambda _: True, Origin("r1"))


@pytest.fixture
def stored(alerts_database: AlertsDatabase) -> Iterator[Stored]:
    alerts = [
        alert(
            10 * payee + number,
            group={"payeeId": str(payee)},
            ruleId=rule,
            ruleName=f"Rule {rule}",
            ruleVersion=version,
            eventTime=EPOCH + payee + 2 * number * HOUR,
            windowStart=EPOCH + payee + 2 * number * HOUR - HOUR,
            windowEnd=EPOCH + payee + 2 * number * HOUR,
        )
        for payee in range(1, 7)
        for number, (rule, version) in enumerate(((1, 1), (2, 1), (2, 2), (2, 2)))
    ]
    with PostgresIntake(alerts_database.projector, CasePolicy(None, ("payeeId",))) as intake:
        intake.store([received(made) for made in alerts], [])
    pool = open_pool(alerts_database.api, 3)
    cases = {
        one.case.subject.text: one.case for one in PostgresCases(pool).page(CaseFilter(), None, 100).cases
    }
    of = {str(n): cases[Subject.of_field("payeeId", str(n)).text] for n in range(1, 7)}
    yield Stored(
        PostgresPerformance(pool),
        PostgresCaseDesk(pool),
        {payee: case.case_id for payee, case in of.items()},
        {payee: case.opened_at for payee, case in of.items()},
    )
    pool.close()


def resolved(stored: Stored, payee: str, outcome: str, after: int) -> Resolve:
    return Resolve(actor="ada", now=stored.opened[payee] + after, outcome=outcome, comment="")  # type: ignore[arg-type]


def test_each_version_gets_the_outcome_of_its_cases_once(stored: Stored) -> None:
    for payee, outcome in (("1", "confirmed_fraud"), ("2", "confirmed_fraud"), ("3", "false_positive")):
        stored.do(payee, Acknowledge(actor="ada", now=stored.opened[payee] + 1000))
        stored.do(payee, resolved(stored, payee, outcome, 10_000 * int(payee)))
    stored.do("4", resolved(stored, "4", "inconclusive", 40_000))
    stored.do("5", Acknowledge(actor="ada", now=EPOCH))
    rows = stored.performance.of_versions(ALWAYS, ())
    assert [(row.key, row.rule_name, row.alerts) for row in rows] == [
        (VersionKey(1, 1), "Rule 1", 6),
        (VersionKey(2, 1), "Rule 2", 6),
        (VersionKey(2, 2), "Rule 2", 12),
    ]
    for row in rows:
        assert row.cases == {"confirmed_fraud": 2, "false_positive": 1, "inconclusive": 1}
        assert row.precision is not None
        assert row.precision.value == 0.6667
        assert row.acknowledged_in == Spread(1000, 1000)
        assert row.resolved_in == Spread(25_000, 38_500)


def test_the_last_resolution_counts(stored: Stored) -> None:
    stored.do("1", resolved(stored, "1", "false_positive", 1000))
    stored.do("1", Reopen(actor="eve", now=stored.opened["1"] + 2000, comment="looked again"))
    before = stored.performance.of_versions(ALWAYS, (1,))
    assert [row.cases for row in before] == [{}]
    stored.do("1", resolved(stored, "1", "confirmed_fraud", 3000))
    (row,) = stored.performance.of_versions(ALWAYS, (1,))
    assert (row.cases, row.resolved_in) == ({"confirmed_fraud": 1}, Spread(3000, 3000))


def test_of_a_span_and_of_some_rules(stored: Stored) -> None:
    stored.do("1", resolved(stored, "1", "false_positive", 1000))
    then = stored.opened["1"] + 1000
    assert [row.cases for row in stored.performance.of_versions(Span(then, then), (1,))] == [
        {"false_positive": 1}
    ]
    early = stored.performance.of_versions(Span(EPOCH, EPOCH + HOUR), ())
    assert [(row.key, row.alerts) for row in early if row.alerts] == [(VersionKey(1, 1), 6)]
    assert stored.performance.of_versions(ALWAYS, (77,)) == []


def test_alerts_by_day(stored: Stored, alerts_database: AlertsDatabase) -> None:
    whole = stored.performance.days(ALWAYS, 2)
    assert sum(one.alerts for one in whole) == 18
    assert {one.rule_version for one in whole} == {1, 2}
    assert whole[0] == DayCount((EPOCH + 2 * HOUR) // DAY, 1, 6)
    with psycopg.connect(alerts_database.owner, autocommit=True) as connection:
        connection.execute("SELECT alerts.settle_counts()")
    assert stored.performance.days(ALWAYS, 2) == whole
    assert [row.alerts for row in stored.performance.of_versions(ALWAYS, ())] == [6, 6, 12]
