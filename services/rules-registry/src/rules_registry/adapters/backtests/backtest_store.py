"""Backtests on Postgres: within the log, for those who read, and for the desk that has them run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from psycopg.types.json import Json, Jsonb

from rules_registry.adapters.backtests.estimate_store import PostgresEstimates
from rules_registry.adapters.postgres import Connection, Pool, translated
from rules_registry.domain.backtests.backtest import AS_IT_WAS, Backtest, Tried, Wanted
from rules_registry.domain.backtests.errors import BacktestNotFound
from tripline_contracts.event_type import EventType

_COLUMNS: Final = (
    "backtest_id, run_key::text, state, wanted, requested_by, requested_at, started_at, ended_at, expires_at, attempts,"
    " progress, note, failure"
)
_ADD: Final = f"""
INSERT INTO registry.backtests (run_key, state, wanted, rule_ids, requested_by, requested_at)
VALUES (%(run_key)s, 'queued', %(wanted)s, %(rule_ids)s::bigint[], %(requested_by)s, %(requested_at)s)
RETURNING {_COLUMNS}, result
"""  # noqa: S608
_ONE: Final = f"SELECT {_COLUMNS}, result FROM registry.backtests WHERE backtest_id = %(backtest_id)s"  # noqa: S608
_ONE_TO_CHANGE: Final = f"{_ONE} FOR UPDATE"
_COUNT_OPEN: Final = "SELECT count(*) AS open FROM registry.backtests WHERE ended_at IS NULL"
_KEEP: Final = """
UPDATE registry.backtests SET state = %(state)s, started_at = %(started_at)s, ended_at = %(ended_at)s,
    expires_at = %(expires_at)s, attempts = %(attempts)s, progress = %(progress)s, note = %(note)s,
    failure = %(failure)s, result = %(result)s
WHERE backtest_id = %(backtest_id)s AND state = %(seen)s
"""
# Newest first, without the results.
_LISTING: Final = f"""
SELECT {_COLUMNS}, NULL AS result FROM registry.backtests
WHERE (%(after)s = 0 OR backtest_id < %(after)s)
  AND (%(state)s::text IS NULL OR state = %(state)s)
  AND (%(rule_id)s::bigint IS NULL OR rule_ids @> ARRAY[%(rule_id)s::bigint])
ORDER BY backtest_id DESC LIMIT %(limit)s
"""  # noqa: S608
_OPEN: Final = f"""
SELECT {_COLUMNS}, result FROM registry.backtests WHERE ended_at IS NULL ORDER BY backtest_id FOR UPDATE
"""  # noqa: S608
_ALERTS: Final = """
SELECT number, alert FROM registry.backtest_alerts
WHERE backtest_id = %(backtest_id)s AND number > %(after)s ORDER BY number LIMIT %(limit)s
"""
_KEEP_ALERT: Final = """
INSERT INTO registry.backtest_alerts (backtest_id, number, alert) VALUES (%(backtest_id)s, %(number)s, %(alert)s)
"""
_DELETE_EXPIRED: Final = "DELETE FROM registry.backtests WHERE expires_at <= %(now)s"
_TAKE_TURN: Final = "SELECT single FROM registry.backtest_desk FOR UPDATE SKIP LOCKED"
# Nobody waits for it, and it may go through the alerts of a month.
_PATIENT: Final = "SET LOCAL statement_timeout = '120s'"
_LABELS: Final = """
SELECT transaction_id, fraud FROM alerts.decided_transactions(%(id_field)s, %(first)s, %(until)s, %(most)s)
WHERE transaction_id IS NOT NULL
"""


class PostgresBacktests:
    """Reads and writes of one statement each, within the transaction of the log."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, wanted: Wanted, run_key: str, requested_by: str, now_ms: int) -> Backtest:
        """Writes a new one."""
        values = {
            "run_key": run_key,
            "wanted": Jsonb(_wanted_json(wanted)),
            "rule_ids": wanted.rule_ids,
            "requested_by": requested_by,
            "requested_at": now_ms,
        }
        row = self._connection.execute(_ADD, values).fetchone()
        assert row is not None  # RETURNING
        return _backtest_of(row)

    def get(self, backtest_id: int) -> Backtest | None:
        """The backtest as it stands, and nobody else changes it meanwhile."""
        row = self._connection.execute(_ONE_TO_CHANGE, {"backtest_id": backtest_id}).fetchone()
        return None if row is None else _backtest_of(row)

    def count_open(self) -> int:
        """How many are not ended."""
        row = self._connection.execute(_COUNT_OPEN).fetchone()
        assert row is not None  # an aggregate without GROUP BY is one row
        return int(row["open"])

    def keep(self, backtest: Backtest, seen: Backtest) -> None:
        """Writes how it stands, if it is in the state that was seen."""
        values = {
            "backtest_id": backtest.backtest_id,
            "state": backtest.state,
            "started_at": backtest.started_at,
            "ended_at": backtest.ended_at,
            "expires_at": backtest.expires_at,
            "attempts": backtest.attempts,
            "progress": Jsonb(dict(backtest.progress)),
            "note": backtest.note,
            "failure": backtest.failure,
            "result": None if backtest.result is None else Jsonb(dict(backtest.result)),
            "seen": seen.state,
        }
        self._connection.execute(_KEEP, values)


class BacktestQueries:
    """Reads of one statement each."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def get(self, backtest_id: int) -> Backtest:
        """The backtest. Raises `BacktestNotFound`."""
        with translated(), self._pool.connection() as connection:
            row = connection.execute(_ONE, {"backtest_id": backtest_id}).fetchone()
        if row is None:
            raise BacktestNotFound(backtest_id)
        return _backtest_of(row)

    def page(
        self, state: str | None, rule_id: int | None, after: int, limit: int
    ) -> tuple[Sequence[Backtest], int | None]:
        """Newest first, without results, and the id after which the next page begins."""
        values = {"state": state, "rule_id": rule_id, "after": after, "limit": limit + 1}
        with translated(), self._pool.connection() as connection:
            rows = connection.execute(_LISTING, values).fetchall()
        kept = [_backtest_of(row) for row in rows[:limit]]
        return kept, kept[-1].backtest_id if len(rows) > limit else None

    def alerts(
        self, backtest_id: int, after: int, limit: int
    ) -> tuple[Sequence[Mapping[str, Any]], int | None]:
        """Kept alerts in the order in which they were given. Raises `BacktestNotFound`."""
        self.get(backtest_id)
        values = {"backtest_id": backtest_id, "after": after, "limit": limit + 1}
        with translated(), self._pool.connection() as connection:
            rows = connection.execute(_ALERTS, values).fetchall()
        page = rows[:limit]
        return [row["alert"] for row in page], page[-1]["number"] if len(rows) > limit else None


class BacktestTurns:
    """The desk's transactions."""

    def __init__(self, pool: Pool, event_type: EventType) -> None:
        self._pool, self._id_field = pool, event_type.id_field.name

    @contextmanager
    def turn(self) -> Iterator[PostgresTurn | None]:
        """One at a time, whoever looks. Raises `StoreUnavailable`."""
        with translated(), self._pool.connection() as connection, connection.transaction():
            is_ours = connection.execute(_TAKE_TURN).fetchone() is not None
            yield PostgresTurn(connection, self._id_field) if is_ours else None


class PostgresTurn(PostgresBacktests):
    """One look at the jobs.

    :ivar estimates: those of changes
    """

    def __init__(self, connection: Connection, id_field: str) -> None:
        super().__init__(connection)
        self._id_field = id_field
        self.estimates = PostgresEstimates(connection)

    def delete_expired(self, now_ms: int) -> int:
        """Deletes results whose time is over; how many."""
        return self._connection.execute(_DELETE_EXPIRED, {"now": now_ms}).rowcount

    def open(self) -> Sequence[Backtest]:
        """All that are not ended, oldest first."""
        return [_backtest_of(row) for row in self._connection.execute(_OPEN)]

    def labels(self, first: int, until: int, most: int) -> list[tuple[str, bool]]:
        """Transactions of the span that people have decided on, and whether they were fraud."""
        values = {"id_field": self._id_field, "first": first, "until": until, "most": most}
        self._connection.execute(_PATIENT)
        rows = self._connection.execute(_LABELS, values).fetchall()
        return [(row["transaction_id"], row["fraud"]) for row in rows]

    def keep_alerts(self, backtest_id: int, after: int, alerts: Sequence[Mapping[str, Any]]) -> None:
        """Keeps alerts, numbered from `after` + 1 on."""
        rows = [
            {"backtest_id": backtest_id, "number": number, "alert": Json(dict(alert), _text)}
            for number, alert in enumerate(alerts, start=after + 1)
        ]
        with self._connection.cursor() as cursor:
            cursor.executemany(_KEEP_ALERT, rows)


def _text(alert: object) -> str:
    return json.dumps(alert, ensure_ascii=False)


def _wanted_json(wanted: Wanted) -> dict[str, Any]:
    return {
        "from": wanted.first,
        "to": wanted.until,
        "knowledge": wanted.knowledge,
        "rules": [rule.to_json() for rule in wanted.rules],
    }


def _backtest_of(row: Mapping[str, Any]) -> Backtest:
    kept = row["wanted"]
    rules = tuple(Tried.from_json(rule) for rule in kept["rules"])
    # those of before there was a choice do not say it
    wanted = Wanted(kept["from"], kept["to"], rules, kept.get("knowledge", AS_IT_WAS))
    plain = {name: value for name, value in row.items() if name != "wanted"}
    return Backtest(wanted=wanted, **plain)
