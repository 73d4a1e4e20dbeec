"""Alerts by their cases' work, whichever way leads to them, against a fold that watches where each alert goes."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random

import psycopg
import pytest

from alert_api.adapters.alert_lists import alerts_by_work, newest_of_cases
from alert_api.adapters.cases.case_log import entries_after
from alert_api.adapters.cases.postgres_case_desk import PostgresCaseDesk
from alert_api.adapters.cases.postgres_cases import PostgresCases
from alert_api.adapters.postgres_alert_events import PostgresAlertEvents
from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.domain.cases.alert_facts import AlertFacts
from alert_api.domain.cases.case import Case
from alert_api.domain.cases.folding import CaseBook
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.work import Assign, Command, Reopen, Resolve
from alert_api.domain.events import AlertId
from alert_api.errors import CaseInTheWay, CaseStateConflict
from alert_api.service.alert_queries import AlertFilter, Place, StoredAlert
from alert_api.service.cases.case_queries import CaseFilter
from alert_api.service.cases.case_work import Origin
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.unit.alert_api.support.samples import EPOCH, alert, received

pytestmark = pytest.mark.integration

MINUTE = 60_000
# Episodes of an hour: long ones that go on after a resolution, and nothing reopens a case but a person.
POLICY = CasePolicy(60 * MINUTE, ("beneficiaryId", "payeeId"), 0)
FILTERS = (
    AlertFilter(case_state="unresolved"),
    AlertFilter(case_state="resolved"),
    AlertFilter(case_state="reopened"),
    AlertFilter(outcome="false_positive"),
    AlertFilter(assignee="ada"),
    AlertFilter(assignee="bob", case_state="unresolved", rule_ids=(1, 2)),
    AlertFilter(outcome="inconclusive", earliest=EPOCH + 9 * MINUTE, latest=EPOCH + 200 * MINUTE),
    AlertFilter(case_state="resolved", group=(("payeeId", "1"),)),
    AlertFilter(assignee="nobody"),
)


@dataclass(slots=True)
class History:
    """What came out of a history: the alerts, and the case of each by the fold of its log."""

    alerts: PostgresAlerts
    events: PostgresAlertEvents
    facts: list[AlertFacts] = field(default_factory=list)
    case_of: dict[AlertId, int] = field(default_factory=dict)
    cases: dict[int, Case] = field(default_factory=dict)

    def expected(self, wanted: AlertFilter) -> list[AlertId]:
        fitting = [facts for facts in self.facts if self._fits(facts, wanted)]
        return [facts.alert_id for facts in sorted(fitting, key=lambda one: (-one.event_time, one.alert_id))]

    def _fits(self, facts: AlertFacts, wanted: AlertFilter) -> bool:
        case = self.cases[self.case_of[facts.alert_id]]
        states = {"unresolved": case.unresolved, None: True}
        return (
            states.get(wanted.case_state, case.state == wanted.case_state)
            and wanted.outcome in (None, case.outcome)
            and wanted.assignee in (None, case.assignee)
            and (not wanted.rule_ids or facts.rule_id in wanted.rule_ids)
            and set(wanted.group) <= set(facts.group.items())
            and (wanted.earliest or 0) <= facts.event_time <= (wanted.latest or 2**60)
        )


@pytest.fixture(scope="module")
def history(module_database: AlertsDatabase) -> Iterator[History]:
    """Sixty batches of alerts about four payees, mostly in order, with work between them."""
    random, number = Random(7), itertools.count(1)
    pool = open_pool(module_database.api, 3)
    cases, desk = PostgresCases(pool), PostgresCaseDesk(pool)
    with PostgresIntake(module_database.projector, POLICY) as intake:
        for batch in range(60):
            made = []
            for _ in range(random.randint(1, 6)):
                time = (
                    EPOCH + max(0, batch * 5 - random.choice((0, 0, 0, 90))) * MINUTE + random.randint(0, 3)
                )
                changes = {"ruleId": random.randint(1, 3), "group": _group(random)}
                made.append(received(alert(next(number), **changes, eventTime=time, detectedAt=time)))
            intake.store(made, [])
            for stored in cases.page(CaseFilter(), None, 100).cases:
                if random.random() < 0.15:
                    _do(desk, stored.case.case_id, random)
    # by chance nobody may have taken a resolution back
    [last] = cases.page(CaseFilter("unresolved"), None, 1).cases
    for one in (Resolve(actor="ada", now=EPOCH, outcome="inconclusive"), Reopen(actor="ada", now=EPOCH)):
        desk.work(last.case.case_id, one, lambda _: True, Origin("r"))
    history = History(PostgresAlerts(pool), PostgresAlertEvents(pool))
    with psycopg.connect(module_database.owner) as connection, connection.cursor() as cursor:
        book = CaseBook(POLICY)
        for entry in entries_after(cursor, -1, 100_000):
            before = {case_id: case.count for case_id, case in book.cases.items()}
            book.fold([entry])
            if isinstance(entry, AlertFacts):
                history.facts.append(entry)
                [history.case_of[entry.alert_id]] = [
                    case_id for case_id, case in book.cases.items() if case.count > before.get(case_id, 0)
                ]
        history.cases = book.cases
    yield history
    pool.close()


def _group(random: Random) -> dict[str, str]:
    """Mostly the subject alone; or behind others, as the fourth field, which no index has in order, or not at all."""
    payee = {"payeeId": str(random.randint(1, 4))}
    third = {**payee, "paymentType": "CSH", "beneficiaryId": str(random.randint(1, 2))}
    return random.choice((payee, payee, payee, third, {**third, "account": "7"}, {"paymentType": "CSH"}))


def _do(desk: PostgresCaseDesk, case_id: int, random: Random) -> None:
    who = random.choice(("ada", "bob"))
    commands: list[Command] = [
        Assign(actor=who, now=EPOCH, assignee=who),
        Resolve(actor=who, now=EPOCH, outcome=random.choice(("false_positive", "inconclusive"))),
        Reopen(actor=who, now=EPOCH),
    ]
    with suppress(CaseStateConflict, CaseInTheWay):
        desk.work(case_id, random.choice(commands), lambda _: True, Origin("r"))


def test_each_alert_tells_its_case(history: History) -> None:
    shared = {case for case in history.cases if list(history.case_of.values()).count(case) > 1}
    assert len(history.cases) > 10
    assert len(shared) > 5
    assert any(case.state == "reopened" for case in history.cases.values())
    told = {one.alert_id: one.case_id for one in _walk(history, AlertFilter(), 100)}
    assert told == history.case_of
    some = history.facts[77].alert_id
    assert history.alerts.get(some).case_id == history.case_of[some]


@pytest.mark.parametrize(
    ("most_cases", "going_on", "first_look"),
    [(200, 200, 8), (2, 2, 1), (200, -1, 8), (0, -1, 8)],
    ids=["by their newest", "by either", "by episodes", "by walking"],
)
def test_pages_give_each_alert_of_the_cases_once(
    history: History, monkeypatch: pytest.MonkeyPatch, most_cases: int, going_on: int, first_look: int
) -> None:
    monkeypatch.setattr(alerts_by_work, "MOST_CASES", most_cases)
    monkeypatch.setattr(newest_of_cases, "MOST_GOING_ON", going_on)
    monkeypatch.setattr(newest_of_cases, "FIRST_LOOK", first_look)
    for wanted, limit in itertools.product(FILTERS, (1, 3, 100)):
        listed = [one.alert_id for one in _walk(history, wanted, limit)]
        assert listed == history.expected(wanted), (wanted, limit)
        assert bool(listed) == (wanted.assignee != "nobody"), f"{wanted} chooses nothing: it proves nothing"


def test_a_page_of_whatever_work_is_full_where_there_is_enough(history: History) -> None:
    """Nothing is asked of the alerts themselves, and few cases go on: so the cases that end last fill it."""
    for wanted in FILTERS[:5]:
        expected = history.expected(wanted)
        page = history.alerts.page(wanted, None, 5)
        assert [one.alert_id for one in page.alerts] == expected[:5]


def test_alerts_are_counted_by_what_became_of_them(history: History) -> None:
    rules = {facts.alert_id: facts.rule_id for facts in history.facts}
    for wanted in FILTERS:
        asked = replace(wanted, earliest=EPOCH + 9 * MINUTE, latest=EPOCH + 280 * MINUTE)
        counted = history.events.count(asked)
        expected = Counter(rules[alert_id] for alert_id in history.expected(asked))
        assert {rule: tally.open for rule, tally in counted.by_rule.items()} == expected, wanted


def _walk(history: History, wanted: AlertFilter, limit: int) -> Iterator[StoredAlert]:
    after: Place | None = None
    while True:
        page = history.alerts.page(wanted, after, limit)
        assert len(page.alerts) <= limit
        yield from page.alerts
        if page.following is None:
            return
        after = page.following
