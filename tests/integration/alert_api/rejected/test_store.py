"""Rejected records in a real Postgres: what is stored, decided and sent, and who may do which."""

from __future__ import annotations

import threading

import psycopg
import pytest

from alert_api.adapters.rejected.postgres_redrive import PostgresRedrive
from alert_api.adapters.rejected.postgres_rejected_records import PostgresRejectedRecords
from alert_api.adapters.retention.postgres_dead_letters import PostgresDeadLetters
from alert_api.domain.rejected_records import Decision, Delivery, RecordPlace
from alert_api.service.rejected.desk import AfterRecord, RejectedCount, RejectedFilter, RejectedRecord
from alert_api.service.retention import Kept, RetentionPolicy
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.integration.alert_api.rejected.conftest import BACKFILL, DISCARD, NOW, again, reject
from tests.integration.alert_api.support.servers import SECONDS
from tests.servers import PostgresServer

pytestmark = pytest.mark.integration


class TestStore:
    def test_what_comes_twice_is_there_once(
        self, store: PostgresRedrive, records: PostgresRejectedRecords
    ) -> None:
        store.store([reject(1), reject(2)])
        store.store([reject(2, "too_late"), reject(3)])
        assert [record.cause for record in records.page(RejectedFilter(), None, 9).records] == [
            "unparseable"
        ] * 3
        assert records.get(RecordPlace(1, 1)).value == b"{"  # type: ignore[union-attr]
        assert records.get(RecordPlace(0, 1)) is None

    def test_pages_are_the_list(self, store: PostgresRedrive, records: PostgresRejectedRecords) -> None:
        store.store([reject(n, "too_late" if n % 2 else "unparseable") for n in range(20)])
        for wanted in (RejectedFilter(), RejectedFilter("too_late"), RejectedFilter(earliest=NOW + 2)):
            whole = records.page(wanted, None, 100).records
            after: AfterRecord | None = None
            paged: list[RejectedRecord] = []
            while True:
                page = records.page(wanted, after, 3)
                paged += page.records
                if (after := page.following) is None:
                    break
            assert tuple(paged) == whole
            assert [row.rejected_at for row in whole] == sorted(
                (row.rejected_at for row in whole), reverse=True
            )
        assert len(records.page(RejectedFilter("too_late"), None, 100).records) == 10

    def test_one_of_two_people_decides(
        self, store: PostgresRedrive, records: PostgresRejectedRecords
    ) -> None:
        store.store([reject(n) for n in range(8)])
        barrier, won = threading.Barrier(2), []

        def decide(decision: Decision) -> None:
            for offset in range(8):
                barrier.wait(SECONDS)
                if records.decide(RecordPlace(offset % 2, offset), decision):
                    won.append(offset)

        threads = [threading.Thread(target=decide, args=[decision]) for decision in (again(), DISCARD)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(SECONDS)
        assert sorted(won) == list(range(8))

    def test_states_follow_decision_and_delivery(
        self, store: PostgresRedrive, records: PostgresRejectedRecords
    ) -> None:
        store.store([reject(n) for n in range(4)])
        assert records.decide(RecordPlace(1, 1), again())
        assert records.decide(RecordPlace(0, 2), DISCARD)
        assert records.decide(RecordPlace(1, 3), again(backfill=BACKFILL))
        [first, second] = store.queued(10)
        assert (first.corrects, second.corrects, second.backfill) == (
            RecordPlace(1, 1),
            RecordPlace(1, 3),
            BACKFILL,
        )
        store.delivered([(first, Delivery(RecordPlace(0, 70), NOW))])
        store.delivered([(first, Delivery(RecordPlace(0, 71), NOW))])  # the kill came before: sent twice
        assert store.queued(10) == [second]
        assert {(counted.state, counted.count) for counted in records.counts()} == {
            ("open", 1), ("queued", 1), ("sent", 1), ("discarded", 1),
        }  # fmt: skip
        assert [row.place for row in records.page(RejectedFilter(state="queued"), None, 9).records] == [
            RecordPlace(1, 3)
        ]
        sent = records.get(RecordPlace(1, 1))
        assert sent is not None
        assert (sent.state, sent.delivery) == ("sent", Delivery(RecordPlace(0, 70), NOW))

    def test_a_correction_that_was_not_accepted_says_what_it_corrects(
        self, store: PostgresRedrive, records: PostgresRejectedRecords
    ) -> None:
        store.store([reject(1)])
        records.decide(RecordPlace(1, 1), again())
        [correction] = store.queued(1)
        store.delivered([(correction, Delivery(RecordPlace(0, 70), NOW))])
        store.store([reject(70)])
        shown = records.page(RejectedFilter(), None, 2).records
        assert [(row.place, row.corrects) for row in shown] == [
            (RecordPlace(0, 70), RecordPlace(1, 1)),
            (RecordPlace(1, 1), None),
        ]

    def test_counts_have_their_times(self, store: PostgresRedrive, records: PostgresRejectedRecords) -> None:
        store.store([reject(3), reject(9)])
        assert records.counts() == [RejectedCount("unparseable", "open", 2, NOW + 1, NOW + 3)]

    def test_retention_takes_the_oldest_with_what_was_decided(
        self,
        postgres: PostgresServer,
        database: AlertsDatabase,
        store: PostgresRedrive,
        records: PostgresRejectedRecords,
    ) -> None:
        for offset in range(4):
            store.store([reject(offset)])
        records.decide(RecordPlace(0, 0), again())
        store.delivered([(store.queued(1)[0], Delivery(RecordPlace(0, 9), NOW))])
        retention = PostgresDeadLetters(
            postgres.login(database.owner, "tripline_alert_retention"), "rejected"
        )
        assert retention.kept() == Kept(4, 4 * len("{not JSON"))
        assert retention.delete_beyond(RetentionPolicy(days=1, records=2, bytes=1000)) == 2
        assert [str(row.place) for row in records.page(RejectedFilter(), None, 9).records] == ["1-3", "0-2"]


REDRIVE_MAY_NOT = {
    "decide": "INSERT INTO alerts.rejected_record_decisions (kind) VALUES ('discard')",
    "read what was rejected": "SELECT record_value FROM alerts.rejected_records",
    "change a state": "UPDATE alerts.rejected_records SET state = 'sent'",
    "store one that is decided": "INSERT INTO alerts.rejected_records (state) VALUES ('discarded')",
    "take a delivery back": "DELETE FROM alerts.rejected_record_deliveries",
    "see alerts": "SELECT * FROM alerts.alerts",
    "project by itself": "SELECT alerts.project_rejected_decision()",
}
API_MAY_NOT = {
    "take a decision back": "DELETE FROM alerts.rejected_record_decisions",
    "change a decision": "UPDATE alerts.rejected_record_decisions SET actor = 'ada'",
    "change a record": "UPDATE alerts.rejected_records SET record_value = ''",
    "choose a position": "INSERT INTO alerts.rejected_record_decisions (position) VALUES (1)",
    "say that it was sent": "INSERT INTO alerts.rejected_record_deliveries VALUES (1, 0, 0, 0)",
    "forget a record": "DELETE FROM alerts.rejected_records",
}


@pytest.mark.parametrize("what", REDRIVE_MAY_NOT)
def test_who_brings_in_decides_nothing(postgres: PostgresServer, database: AlertsDatabase, what: str) -> None:
    login = postgres.login(database.owner, "tripline_alert_redrive")
    with psycopg.connect(login) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute(REDRIVE_MAY_NOT[what].encode())


@pytest.mark.parametrize("what", API_MAY_NOT)
def test_who_decides_brings_nothing_in(database: AlertsDatabase, what: str) -> None:
    with psycopg.connect(database.api) as connection, pytest.raises(psycopg.errors.Error) as refused:
        connection.execute(API_MAY_NOT[what].encode())
    assert isinstance(refused.value, psycopg.errors.InsufficientPrivilege | psycopg.errors.GeneratedAlways)
