"""Whatever a list is filtered by, and however few alerts are looked at for a page, its pages give what the filter
chooses, once each, newest first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from alert_api.adapters.alert_lists import alert_counting, alert_walking, amount_steps
from alert_api.adapters.postgres_alert_events import PostgresAlertEvents
from alert_api.adapters.postgres_alerts import PostgresAlerts, open_pool
from alert_api.domain.events import AlertId
from alert_api.service.alert_counts import Tally
from alert_api.service.alert_queries import AlertFilter, Place
from tests.integration.alert_api.conftest import AlertsDatabase
from tests.unit.alert_api.support.samples import EPOCH, alert, alert_id

pytestmark = pytest.mark.integration

HOUR = 3_600_000
FILTERS = 32
"""For each way to look; each reads all of its pages."""
FIELDS = ("payeeId", "beneficiaryId", "paymentType", "countryCode", "channel")
STORE = """
INSERT INTO alerts.alerts (alert_id, rule_id, rule_version, group_values, event_time, detected_at, transaction_id,
                           amount, voided, content, acknowledged_by, acknowledged_at)
VALUES (%(id)s, %(rule)s, %(version)s, %(group)s, %(time)s, %(detected)s, %(transaction)s, %(amount)s, %(voided)s,
        %(content)s, %(by)s, %(at)s)
"""
SNOOZE = "INSERT INTO alerts.snoozed_alerts (alert_id, snooze_id, event_time) VALUES (%s, %s, %s)"


@dataclass(frozen=True, slots=True)
class Made:
    id: AlertId
    rule: int
    version: int
    group: dict[str, str]
    time: int
    detected: int
    transaction: str
    amount: Decimal | None
    voided: bool
    open: bool
    snooze: int | None

    def fits(self, wanted: AlertFilter) -> bool:
        lowest, highest = wanted.min_amount, wanted.max_amount
        return (
            (not wanted.rule_ids or self.rule in wanted.rule_ids)
            and wanted.rule_version in (None, self.version)
            and wanted.transaction_id in (None, self.transaction)
            and set(wanted.group) <= set(self.group.items())
            and wanted.state in (None, "open" if self.open else "acknowledged")
            and wanted.voided in (None, self.voided)
            and wanted.snooze_id in (None, self.snooze)
            and wanted.snoozed in (None, self.snooze is not None)
            and (wanted.earliest or 0) <= self.time <= (wanted.latest or 2**60)
            and (wanted.detected_from or 0) <= self.detected <= (wanted.detected_to or 2**60)
            and (lowest is None or (self.amount is not None and self.amount >= lowest))
            and (highest is None or (self.amount is not None and self.amount <= highest))
        )


def made(number: int, random: Random) -> Made:
    time = EPOCH + random.randrange(40) * HOUR // 4
    delay = random.choice((80, 80, 80, HOUR, HOUR + 1, 3 * HOUR, -1, -2 * HOUR))
    fields = random.sample(FIELDS, random.choice((0, 1, 1, 2, 3, 4, 5)))
    return Made(
        alert_id(number),
        random.randint(1, 4),
        random.randint(1, 2),
        {name: str(random.randint(1, 2)) for name in fields},
        time,
        time + delay,
        f"t{random.randrange(60)}",
        random.choice((None, Decimal(random.randrange(100)), Decimal("7.5"))),
        random.random() < 0.2,
        random.random() < 0.6,
        random.choice((None, None, None, 1, 2)),
    )


def some_filter(random: Random) -> AlertFilter:
    earliest, detected_from = (EPOCH + random.randrange(10) * HOUR for _ in range(2))
    wanted: dict[str, Any] = {
        "rule_ids": random.choice(((2,), (1, 3), (1, 2, 4, 99))),
        "rule_version": 1,
        "group": tuple(
            (name, str(random.randint(1, 2))) for name in random.sample(FIELDS, random.randint(1, 3))
        ),
        "state": random.choice(("open", "acknowledged")),
        "earliest": earliest,
        "latest": earliest + random.randrange(8) * HOUR,
        "voided": random.choice((True, False)),
        "transaction_id": f"t{random.randrange(60)}",
        "snooze_id": random.randint(1, 2),
        "snoozed": random.choice((True, False)),
        "min_amount": Decimal(random.randrange(50)),
        "max_amount": Decimal(random.randrange(40, 100)),
        "detected_from": detected_from,
        "detected_to": detected_from + random.randrange(8) * HOUR,
    }
    return AlertFilter(
        **{name: wanted[name] for name in random.sample(list(wanted), random.choice((1, 1, 2, 3)))}
    )


@pytest.fixture(scope="module")
def stored(module_database: AlertsDatabase) -> Iterator[tuple[PostgresAlerts, list[Made]]]:
    random = Random(3)
    alerts = [made(number, random) for number in range(300)]
    with psycopg.connect(module_database.owner) as connection, connection.cursor() as cursor:
        rows = [
            {
                "id": one.id, "rule": one.rule, "version": one.version, "group": Jsonb(one.group), "time": one.time,
                "detected": one.detected, "transaction": one.transaction, "amount": one.amount, "voided": one.voided,
                "content": json.dumps(alert(1, ruleId=one.rule, group=one.group)),
                "by": None if one.open else "ada", "at": None if one.open else EPOCH,
            }
            for one in alerts
        ]  # fmt: skip
        cursor.executemany(STORE, rows)
        cursor.executemany(SNOOZE, [(one.id, one.snooze, one.time) for one in alerts if one.snooze])
    pool = open_pool(module_database.api, 1)
    yield PostgresAlerts(pool), alerts
    pool.close()


@pytest.fixture
def events(module_database: AlertsDatabase) -> Iterator[PostgresAlertEvents]:
    pool = open_pool(module_database.api, 1)
    yield PostgresAlertEvents(pool)
    pool.close()


@pytest.mark.parametrize(("looked", "few"), [(10_000, 2_000), (20, 10), (3, 0)])
def test_pages_give_what_a_filter_chooses(
    monkeypatch: pytest.MonkeyPatch, stored: tuple[PostgresAlerts, list[Made]], looked: int, few: int
) -> None:
    for name, value in (
        ("LOOKED", looked),
        ("LOOKED_APART", looked),
        ("LEAST_LOOKED", 2),
        ("FEW", few),
        ("FEW_AMOUNTS", few),
        ("LOOKED_FIRST", min(looked, 500)),
    ):
        monkeypatch.setattr(alert_walking, name, value)
    listing, alerts = stored
    random = Random(looked)
    for limit in random.choices((1, 3, 7, 100), (1, 5, 5, 5), k=FILTERS):
        wanted = some_filter(random)
        fitting = sorted((one for one in alerts if one.fits(wanted)), key=lambda one: (-one.time, one.id))
        assert _pages(listing, wanted, limit) == [one.id for one in fitting], wanted


def test_all_pages_of_amounts_in_many_steps(
    monkeypatch: pytest.MonkeyPatch, stored: tuple[PostgresAlerts, list[Made]]
) -> None:
    """Beside each other, where the newest alerts are no page, with and without something else that is asked for."""
    for name in ("FEW", "FEW_AMOUNTS", "LOOKED_FIRST"):
        monkeypatch.setattr(alert_walking, name, 0)
    listing, alerts = stored
    for wanted in (
        AlertFilter(min_amount=Decimal("7.5")),
        AlertFilter(max_amount=Decimal(31)),
        AlertFilter(min_amount=Decimal(5), max_amount=Decimal(62), state="open"),
        AlertFilter(min_amount=Decimal(20), detected_from=EPOCH + 3 * HOUR, detected_to=EPOCH + 5 * HOUR),
    ):
        for looked, limit in ((2000, 7), (3, 7), (3, 100)):
            monkeypatch.setattr(alert_walking, "LOOKED_APART", looked)
            fitting = sorted((one for one in alerts if one.fits(wanted)), key=lambda one: (-one.time, one.id))
            assert fitting
            assert _pages(listing, wanted, limit) == [one.id for one in fitting], (wanted, looked)


def test_an_amount_is_in_the_same_step_in_the_database_and_here(module_database: AlertsDatabase) -> None:
    texts = (
        "-5",
        "0",
        "0.999999",
        "1",
        "1.5",
        "9.999999",
        "10",
        "19.99",
        "99.99",
        "100",
        "123456789012.000001",
    )
    amounts = [Decimal(text) for text in texts]
    with psycopg.connect(module_database.owner) as connection:
        rows = connection.execute(
            "SELECT alerts.amount_step(amount) FROM unnest(%s::numeric[]) WITH ORDINALITY AS a (amount, n) ORDER BY n",
            (amounts,),
        ).fetchall()
    assert [step for (step,) in rows] == [amount_steps.amount_step(amount) for amount in amounts]
    assert amount_steps.steps(Decimal("0.5"), Decimal(25)) == [0, *range(11, 20), 21, 22]
    assert amount_steps.steps(Decimal(950), Decimal(1999)) == [39, 41]
    assert amount_steps.steps(Decimal(2), Decimal(1)) == []


@pytest.mark.parametrize("most", [2_000, 5])
def test_counts_are_of_what_a_filter_chooses(
    monkeypatch: pytest.MonkeyPatch,
    stored: tuple[PostgresAlerts, list[Made]],
    events: PostgresAlertEvents,
    most: int,
) -> None:
    monkeypatch.setattr(alert_counting, "MOST", most)
    random, alerts = Random(most), stored[1]
    some = (
        replace(some_filter(random), earliest=EPOCH, latest=EPOCH + 7 * HOUR, snoozed=False)
        for _ in range(FILTERS)
    )
    for wanted in some:
        counted = events.count(wanted)
        assert most == 5 or counted.since is None
        fitting = [one for one in alerts if one.fits(wanted) and one.time >= (counted.since or 0)]
        for tallies, keys in (
            (counted.by_rule, [one.rule for one in fitting]),
            (counted.by_hour, [one.time // HOUR for one in fitting]),
        ):
            known = Counter((key, one.open) for key, one in zip(keys, fitting, strict=True))
            assert tallies == {
                key: Tally(known[key, True], known[key, False]) for key in sorted(set(keys))
            }, wanted


def _pages(listing: PostgresAlerts, wanted: AlertFilter, limit: int) -> list[AlertId]:
    listed: list[AlertId] = []
    after: Place | None = None
    while True:
        page = listing.page(wanted, after, limit)
        assert len(page.alerts) <= limit
        listed += [one.alert_id for one in page.alerts]
        if page.following is None:
            return listed
        assert after is None or (-after.event_time, after.alert_id) < (
            -page.following.event_time,
            page.following.alert_id,
        )
        after = page.following
