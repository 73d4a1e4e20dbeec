"""Reading cases, and working on them, on a real Postgres."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import psycopg
import pytest

from alert_api.adapters.cases.postgres_case_desk import PostgresCaseDesk
from alert_api.adapters.cases.postgres_cases import PostgresCases
from alert_api.adapters.postgres_alerts import open_pool
from alert_api.adapters.postgres_intake import PostgresIntake
from alert_api.domain.cases.due import DuePolicy
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.subject import Subject
from alert_api.domain.cases.work import Acknowledge, Assign, Command, Comment, Reopen, Resolve
from alert_api.errors import CaseNotFound, CaseStateConflict, CountChanged, KeyReused, StoreUnavailable
from alert_api.service.cases.case_queries import CaseFilter
from alert_api.service.cases.case_work import Origin
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.support.servers import eventually, rows
from tests.unit.alert_api.support.samples import EPOCH, alert, alert_id, received

pytestmark = pytest.mark.integration

HOUR = 3_600_000
CLAIM = Assign(actor="ada", now=EPOCH, assignee="ada")
RESOLVE = Resolve(actor="ada", now=EPOCH, outcome="confirmed_fraud", comment="a ring")


@dataclass(frozen=True, slots=True)
class Stored:
    """Six cases, of payees 1 to 6: the later the payee, the newer. Rules 1 and 2; of each an alert every two hours."""

    cases: PostgresCases
    desk: PostgresCaseDesk
    ids: dict[str, int]


@pytest.fixture
def stored(alerts_database: AlertsDatabase) -> Iterator[Stored]:
    alerts = [
        alert(
            10 * payee + hour,
            group={"payeeId": str(payee)},
            ruleId=1 + hour % 2,
            ruleName=f"Rule {1 + hour % 2}",
            eventTime=EPOCH + payee + hour * HOUR,
            windowStart=EPOCH + payee + hour * HOUR - HOUR,
            windowEnd=EPOCH + payee + hour * HOUR,
        )
        for payee in range(1, 7)
        for hour in range(4)
    ]
    with PostgresIntake(alerts_database.projector, CasePolicy(None, ("payeeId",))) as intake:
        intake.store([received(made) for made in alerts], [])
    pool = open_pool(alerts_database.api, 3)
    cases = PostgresCases(pool)
    ids = {case.case.subject.text: case.case.case_id for case in cases.page(CaseFilter(), None, 100).cases}
    yield Stored(
        cases,
        PostgresCaseDesk(pool),
        {str(n): ids[Subject.of_field("payeeId", str(n)).text] for n in range(1, 7)},
    )
    pool.close()


def payees(stored: Stored, case_filter: CaseFilter) -> list[str]:
    names = {case_id: payee for payee, case_id in stored.ids.items()}
    return [names[case.case.case_id] for case in stored.cases.page(case_filter, None, 100).cases]


def do(stored: Stored, payee: str, *commands: Command) -> None:
    for command in commands:
        stored.desk.work(stored.ids[payee], command, lambda _: True, Origin("r1"))


def test_pages_are_keyset_and_newest_first(stored: Stored) -> None:
    first = stored.cases.page(CaseFilter(), None, 4)
    second = stored.cases.page(CaseFilter(), first.following, 4)
    shown = [case.case.case_id for case in [*first.cases, *second.cases]]
    assert shown == [stored.ids[str(payee)] for payee in range(6, 0, -1)]
    assert second.following is None
    case = first.cases[0]
    assert (case.episodes, case.rule_names, case.case.count) == (4, {1: "Rule 1", 2: "Rule 2"}, 4)


def test_filters_compose_and_count(stored: Stored) -> None:
    do(stored, "1", CLAIM)
    do(stored, "2", CLAIM, RESOLVE)
    do(stored, "3", Acknowledge(actor="ada", now=EPOCH))
    last = EPOCH + 3 * HOUR
    for case_filter, expected in (
        (CaseFilter("unresolved"), ["6", "5", "4", "3", "1"]),
        (CaseFilter("resolved"), ["2"]),
        (CaseFilter("open"), ["6", "5", "4"]),
        (CaseFilter("acknowledged"), ["3"]),
        (CaseFilter(outcome="confirmed_fraud"), ["2"]),
        (CaseFilter(outcome="inconclusive"), []),
        (CaseFilter(assignee="ada"), ["2", "1"]),
        (CaseFilter("assigned", assignee="ada", rule_ids=(2, 77)), ["1"]),
        (CaseFilter(rule_ids=(77,)), []),
        (CaseFilter(subject=Subject.of_field("payeeId", "5")), ["5"]),
        (CaseFilter(earliest=last + 3, latest=last + 4), ["4", "3"]),
    ):
        assert payees(stored, case_filter) == expected, case_filter
        assert sum(stored.cases.counts(case_filter).values()) == len(expected)
    assert stored.cases.counts(CaseFilter()) == {"open": 3, "acknowledged": 1, "assigned": 1, "resolved": 1}


def test_cases_by_severity_and_due_time(stored: Stored, alerts_database: AlertsDatabase) -> None:
    """Rule 2 is high and due after an hour, rule 1 says nothing: a case of both is due by rule 2."""
    due = DuePolicy.parse("critical=1m,high=1h")
    cases = PostgresCases(stored.cases._pool, due)
    newest = [case.case.case_id for case in cases.page(CaseFilter(), None, 100).cases]
    assert cases.counts(CaseFilter(severity="high")) == {}
    assert cases.counts(CaseFilter(overdue_at=2**50)) == {}
    assert _by_due(cases, CaseFilter(), 100) == sorted(newest), "none is due: by id"
    with psycopg.connect(alerts_database.owner) as connection:
        # A purpose of a rule that is in the log alone.
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            "INSERT INTO registry.rule_purposes (rule_id, version, severity, tags) VALUES (2, 1, 'high', '{}')"
        )
    try:
        do(stored, "1", CLAIM, RESOLVE)
        do(stored, "2", CLAIM, RESOLVE, Reopen(actor="ada", now=EPOCH + 50 * HOUR))
        shown = cases.page(CaseFilter(severity="high"), None, 100).cases
        active = {one.case.case_id: one.case.active_at for one in shown}
        assert len(active) == 6
        assert active[stored.ids["2"]] == EPOCH + 50 * HOUR
        for one in shown:
            expected = None if one.case.state == "resolved" else active[one.case.case_id] + HOUR
            assert (one.severity, one.due_at) == ("high", expected)
        assert cases.counts(CaseFilter(severity="critical")) == {}
        order = [stored.ids[payee] for payee in ("3", "4", "5", "6", "2", "1")]
        order.sort(key=lambda case_id: (case_id == stored.ids["1"], active[case_id], case_id))
        for limit in (1, 4, 100):
            assert _by_due(cases, CaseFilter(), limit) == order
        middle = active[order[1]] + HOUR
        assert _by_due(cases, CaseFilter(overdue_at=middle + 1), 100) == order[:2]
        assert _by_due(cases, CaseFilter(overdue_at=middle), 100) == order[:1]
        assert sum(cases.counts(CaseFilter(overdue_at=2**50)).values()) == 5
    finally:
        with psycopg.connect(alerts_database.owner) as connection:
            connection.execute("DELETE FROM registry.rule_purposes")


def _by_due(cases: PostgresCases, case_filter: CaseFilter, limit: int) -> list[int]:
    listed, after = [], None
    while True:
        page = cases.page(case_filter, after, limit, by_due=True)
        listed += [one.case.case_id for one in page.cases]
        after = page.following
        if after is None:
            return listed


def test_episodes_and_alerts_of_a_case_page_by_page(stored: Stored) -> None:
    case_id = stored.ids["4"]
    first = stored.cases.episodes(case_id, None, 3)
    second = stored.cases.episodes(case_id, first.following, 3)
    episodes = [*first.episodes, *second.episodes]
    assert [episode.episode.last for episode in episodes] == [
        EPOCH + 4 + hour * HOUR for hour in (3, 2, 1, 0)
    ]
    assert {episode.rule_name for episode in episodes} == {"Rule 1", "Rule 2"}
    page = stored.cases.alerts(case_id, None, None, 3)
    rest = stored.cases.alerts(case_id, None, page.following, 3)
    assert [shown.alert_id for shown in (*page.alerts, *rest.alerts)] == [
        alert_id(40 + hour) for hour in (3, 2, 1, 0)
    ]
    assert rest.following is None
    of_one = stored.cases.alerts(case_id, episodes[0].episode.episode_id, None, 3)
    assert [shown.alert_id for shown in of_one.alerts] == [alert_id(43)]
    with pytest.raises(CaseNotFound):
        stored.cases.alerts(4_711, None, None, 3)


def test_events_page_by_page_with_what_people_wrote(stored: Stored) -> None:
    do(stored, "4", CLAIM, Comment(actor="bob", now=EPOCH + 1, comment="hm"), RESOLVE)
    page = stored.cases.events(stored.ids["4"], None, 2)
    assert [(event.version, event.kind, event.comment) for event in page.events] == [
        (4, "CaseResolved", "a ring"),
        (3, "CaseCommented", "hm"),
    ]
    rest = stored.cases.events(stored.ids["4"], page.following, 2)
    assert [(event.version, event.kind, event.assignee) for event in rest.events] == [
        (2, "CaseAssigned", "ada"),
        (1, "CaseOpened", None),
    ]
    assert rest.following is None


def test_a_key_is_for_one_request(stored: Stored, alerts_database: AlertsDatabase) -> None:
    origin = Origin("r1", "k", "hash")
    for _ in range(2):
        stored.desk.work(stored.ids["1"], CLAIM, lambda version: version == 1, origin)
    with pytest.raises(KeyReused):
        stored.desk.work(stored.ids["1"], RESOLVE, lambda _: True, Origin("r2", "k", "another"))
    with psycopg.connect(alerts_database.owner) as connection:
        events = connection.execute(
            "SELECT actor, request_id, version FROM alerts.case_events WHERE actor IS NOT NULL"
        )
        assert events.fetchall() == [("ada", "r1", 2)]


def test_all_of_a_filter_or_none(stored: Stored) -> None:
    with pytest.raises(CountChanged, match="chooses 6 cases, expected 5"):
        stored.desk.work_on_all(CaseFilter("open"), 5, CLAIM, Origin())
    do(stored, "2", CLAIM)
    assert stored.desk.work_on_all(CaseFilter(), 6, CLAIM, Origin()) == 5
    do(stored, "3", RESOLVE)
    with pytest.raises(CaseStateConflict):
        stored.desk.work_on_all(CaseFilter(), 6, RESOLVE, Origin())
    assert stored.cases.counts(CaseFilter()) == {"assigned": 5, "resolved": 1}


def test_work_waits_for_alerts_that_are_being_stored_and_follows_on_them(
    stored: Stored, alerts_database: AlertsDatabase
) -> None:
    """One order for both: who holds the cursor goes first."""
    done = threading.Event()

    def claim() -> None:
        do(stored, "1", CLAIM)
        done.set()

    with psycopg.connect(alerts_database.projector) as connection:
        connection.execute("SELECT FROM alerts.case_cursor FOR UPDATE")
        worker = threading.Thread(target=claim)
        worker.start()
        waiting = (
            "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        eventually(lambda: len(rows(alerts_database.owner, waiting)) == 1, "the work waits")
        assert not done.is_set()
    worker.join(30)
    assert done.is_set()


def test_work_is_not_taken_while_alerts_are_unfolded(stored: Stored, alerts_database: AlertsDatabase) -> None:
    with psycopg.connect(alerts_database.owner) as connection:
        connection.execute("UPDATE alerts.case_cursor SET position = position - 1")
    with pytest.raises(StoreUnavailable, match="still being folded"):
        do(stored, "1", CLAIM)
