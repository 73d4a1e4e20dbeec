"""Estimates on Postgres: for the desk that has them made, and for those who read changes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from psycopg.types.json import Jsonb

from rules_registry.adapters.postgres import Connection, Pool, translated
from rules_registry.domain.estimates.estimate import DAY_MS, DONE_MS, ESTIMATED, OPEN_MS, Estimate, Wanted

GRACE_MS: Final = 600_000
"""Alerts of a day may come so long after it."""

_COLUMNS: Final = (
    "change_id, revision, state, run_key::text, attempts, started_at, ended_at, note, failure, result, actual"
)
_OF_CHANGES: Final = (
    f"SELECT {_COLUMNS} FROM registry.estimates WHERE change_id = ANY (%(change_ids)s::bigint[])"  # noqa: S608
)
_RUNNING: Final = """
SELECT e.change_id, e.revision, e.state, e.run_key::text, e.attempts, e.started_at, e.ended_at, e.note, e.failure,
       e.result, e.actual, c.revision = e.revision AND c.state <> 'WITHDRAWN' AS is_asked_for
FROM registry.estimates e JOIN registry.changes c USING (change_id)
WHERE e.state = 'running' ORDER BY e.change_id FOR UPDATE OF e
"""
# As `is_asked_for` has it.
_NEXT: Final = """
SELECT c.change_id, c.revision, c.subject_id::bigint AS rule_id, r.content, e.revision = c.revision AS is_of_it,
       coalesce(e.attempts, 0) AS attempts, e.note
FROM registry.changes c JOIN registry.change_revisions r USING (change_id, revision)
     LEFT JOIN registry.estimates e USING (change_id)
WHERE c.kind = ANY (%(kinds)s) AND c.changed_at > %(open_since)s
  AND (c.state IN ('DRAFT', 'SUBMITTED') OR (c.state = 'APPROVED' AND c.changed_at > %(done_since)s))
  AND (e.change_id IS NULL OR e.revision <> c.revision OR e.state = 'waiting')
ORDER BY CASE c.state WHEN 'SUBMITTED' THEN 0 WHEN 'DRAFT' THEN 1 ELSE 2 END, c.change_id LIMIT 1
"""
_KEEP: Final = """
INSERT INTO registry.estimates (
    change_id, revision, state, run_key, attempts, started_at, ended_at, note, failure, result
) VALUES (
    %(change_id)s, %(revision)s, %(state)s, %(run_key)s, %(attempts)s, %(started_at)s, %(ended_at)s, %(note)s,
    %(failure)s, %(result)s
)
ON CONFLICT (change_id) DO UPDATE SET
    revision = excluded.revision, state = excluded.state, run_key = excluded.run_key, attempts = excluded.attempts,
    started_at = excluded.started_at, ended_at = excluded.ended_at, note = excluded.note, failure = excluded.failure,
    result = excluded.result, actual = NULL
"""
_FORGET: Final = "DELETE FROM registry.estimates WHERE change_id = %(change_id)s"
# From when the version judges until a day later, or until the rule became another one.
_KEEP_ACTUAL: Final = """
WITH due AS (
    SELECT e.change_id, v.rule_id, s.first, least(s.first + %(day)s, n.occurred_at) AS until
    FROM registry.estimates e JOIN registry.changes c USING (change_id)
         JOIN registry.rule_events v USING (position),
         LATERAL (SELECT greatest(v.occurred_at, (v.body ->> 'effectiveFrom')::bigint) AS first) s
         LEFT JOIN LATERAL (
             SELECT occurred_at FROM registry.rule_events
             WHERE rule_id = v.rule_id AND version > v.version ORDER BY version LIMIT 1
         ) n ON true
    WHERE e.state = 'done' AND e.actual IS NULL AND c.revision = e.revision
)
UPDATE registry.estimates e
SET actual = jsonb_build_object('from', d.first, 'until', d.until, 'alerts', f.alerts, 'groups', f.groups)
FROM due d, LATERAL alerts.figures_of_rule(d.rule_id, d.first, d.until) f
WHERE e.change_id = d.change_id AND d.until + %(grace)s <= %(now)s AND d.first < d.until
"""

# Nobody waits for it, and it may count the alerts of a day.
_PATIENT: Final = "SET LOCAL statement_timeout = '120s'"


class PostgresEstimates:
    """Reads and writes of one statement each, within one look of the desk."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def running(self) -> Sequence[tuple[Estimate, bool]]:
        """Those that are being made, and whether the change still asks for them."""
        return [(_estimate_of(row), row["is_asked_for"]) for row in self._connection.execute(_RUNNING)]

    def next_wanted(self, now_ms: int) -> Wanted | None:
        """The first rule that has none yet."""
        values = {"kinds": list(ESTIMATED), "open_since": now_ms - OPEN_MS, "done_since": now_ms - DONE_MS}
        row = self._connection.execute(_NEXT, values).fetchone()
        if row is None:
            return None
        estimate = Estimate(row["change_id"], row["revision"])
        if row["is_of_it"]:
            estimate = Estimate(row["change_id"], row["revision"], attempts=row["attempts"], note=row["note"])
        content, rule_id = row["content"], row["rule_id"]
        return Wanted(estimate, rule_id, content["name"] or f"rule {rule_id}", content["definition"])

    def keep(self, estimate: Estimate) -> None:
        """Writes how it stands, in place of one of an earlier revision."""
        values = {
            "change_id": estimate.change_id,
            "revision": estimate.revision,
            "state": estimate.state,
            "run_key": estimate.run_key,
            "attempts": estimate.attempts,
            "started_at": estimate.started_at,
            "ended_at": estimate.ended_at,
            "note": estimate.note,
            "failure": estimate.failure,
            "result": None if estimate.result is None else Jsonb(dict(estimate.result)),
        }
        self._connection.execute(_KEEP, values)

    def forget(self, estimate: Estimate) -> None:
        """Deletes it."""
        self._connection.execute(_FORGET, {"change_id": estimate.change_id})

    def keep_actual(self, now_ms: int) -> int:
        """Writes beside estimates what their rules gave on the first day, where that is over; of how many."""
        values = {"day": DAY_MS, "grace": GRACE_MS, "now": now_ms}
        self._connection.execute(_PATIENT)
        return self._connection.execute(_KEEP_ACTUAL, values).rowcount


class EstimateQueries:
    """Reads of one statement each."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def of_changes(self, change_ids: Collection[int]) -> Mapping[int, Estimate]:
        """By change, where there is one."""
        with translated(), self._pool.connection() as connection:
            rows = connection.execute(_OF_CHANGES, {"change_ids": list(change_ids)}).fetchall()
        return {row["change_id"]: _estimate_of(row) for row in rows}


def _estimate_of(row: Mapping[str, Any]) -> Estimate:
    return Estimate(
        row["change_id"],
        row["revision"],
        row["state"],
        row["run_key"],
        row["attempts"],
        row["started_at"],
        row["ended_at"],
        row["note"],
        row["failure"],
        row["result"],
        row["actual"],
    )
