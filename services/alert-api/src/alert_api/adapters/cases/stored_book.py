"""What a batch of the log touches, loaded in four statements at most, and written in one per table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, LiteralString

import psycopg

from alert_api.adapters.cases.case_rows import (
    CASE_COLUMNS,
    EPISODE_COLUMNS,
    case_row,
    episode_row,
    stored_case,
    stored_episode,
)
from alert_api.adapters.cases.snooze_rows import load_silence, store_suppressed
from alert_api.domain.cases.alert_facts import AlertFacts
from alert_api.domain.cases.episode import Series, episode_of
from alert_api.domain.cases.folding import CaseBook, LogEntry, PolicySet, WorkDone
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.subject import Subject, subject_of

# What an alert of the batch touches lies between the first and the last of its series; more is loaded in vain.
SELECT_EPISODES: LiteralString = f"""
SELECT {EPISODE_COLUMNS}, ARRAY(SELECT l.case_id FROM alerts.case_episodes l WHERE l.episode_id = e.episode_id)
  FROM unnest(%s::bigint[], %s::text[], %s::bigint[], %s::bigint[]) AS batch (rule_id, group_key, first, until)
  JOIN alerts.episodes e
    ON e.rule_id = batch.rule_id AND e.group_key = batch.group_key
   AND e.until >= batch.first AND e.first <= batch.until
"""  # noqa: S608 - constants

SELECT_NEWEST_CASES: LiteralString = f"""
SELECT {CASE_COLUMNS} FROM unnest(%s::text[]) AS batch (subject_key), LATERAL (
       SELECT * FROM alerts.cases WHERE subject_key = batch.subject_key ORDER BY active_since DESC LIMIT 1) c
"""  # noqa: S608 - constants

SELECT_CASES: LiteralString = f"""
SELECT {CASE_COLUMNS} FROM alerts.cases c WHERE c.case_id = ANY (%s)
"""  # noqa: S608 - constants

DELETE_JOINED = (
    "DELETE FROM alerts.episodes WHERE episode_id = ANY (%s)",
    "DELETE FROM alerts.case_episodes WHERE episode_id = ANY (%s)",
)

STORE_EPISODES = """
INSERT INTO alerts.episodes
SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[],
                     %s::bigint[], %s::text[], %s::text[], %s::text[], %s::bigint[], %s::uuid[])
ON CONFLICT (episode_id) DO UPDATE
   SET first = excluded.first, last = excluded.last, until = excluded.until, count = excluded.count,
       peak_value = excluded.peak_value, peak_operator = excluded.peak_operator, peak_limit = excluded.peak_limit,
       peak_event_time = excluded.peak_event_time, peak_alert_id = excluded.peak_alert_id
"""

STORE_CASES = """
INSERT INTO alerts.cases
    (case_id, subject, subject_key, state, version, count, first, last, rule_ids, opened_at, changed_at, active_since,
     active_at, acknowledged_by, acknowledged_at, assignee, outcome, resolved_by, resolved_at)
SELECT case_id, subject, subject_key, state, version, count, first, last, rule_ids::bigint[], opened_at, changed_at,
       active_since, active_at, acknowledged_by, acknowledged_at, assignee, outcome, resolved_by, resolved_at
  FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::integer[], %s::bigint[], %s::bigint[],
              %s::bigint[], %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::text[],
              %s::bigint[], %s::text[], %s::text[], %s::text[], %s::bigint[])
    AS new (case_id, subject, subject_key, state, version, count, first, last, rule_ids, opened_at, changed_at,
            active_since, active_at, acknowledged_by, acknowledged_at, assignee, outcome, resolved_by, resolved_at)
ON CONFLICT (case_id) DO UPDATE
   SET state = excluded.state, version = excluded.version, count = excluded.count, first = excluded.first,
       last = excluded.last, rule_ids = excluded.rule_ids, changed_at = excluded.changed_at,
       active_since = excluded.active_since, active_at = excluded.active_at,
       acknowledged_by = excluded.acknowledged_by, acknowledged_at = excluded.acknowledged_at,
       assignee = excluded.assignee, outcome = excluded.outcome, resolved_by = excluded.resolved_by,
       resolved_at = excluded.resolved_at
"""

STORE_LINKS = """
INSERT INTO alerts.case_episodes (case_id, episode_id)
SELECT * FROM unnest(%s::bigint[], %s::bigint[]) ON CONFLICT DO NOTHING
"""

STORE_OPENINGS = """
INSERT INTO alerts.case_openings (case_id, version, position, occurred_at)
SELECT * FROM unnest(%s::bigint[], %s::integer[], %s::bigint[], %s::bigint[])
"""


def load_book(cursor: psycopg.Cursor[Any], policy: CasePolicy, entries: Sequence[LogEntry]) -> CaseBook:
    """What ``entries`` touch, under the policy that holds before them."""
    book = CaseBook(policy, silence=load_silence(cursor, entries))
    spans: dict[Series, tuple[int, int]] = {}
    subjects: set[Subject] = set()
    worked: set[int] = set()
    for entry in entries:
        match entry:
            case PolicySet():
                policy = entry.policy
            case WorkDone():
                worked.add(entry.event.case_id)
            case AlertFacts():
                single = episode_of(entry, policy)
                first, until = spans.get(single.series, (single.first, single.until))
                spans[single.series] = (min(first, single.first), max(until, single.until))
                subjects.add(subject_of(entry.rule_id, entry.group, policy))
    if spans:
        columns = _columns((*series, *span) for series, span in spans.items())
        for row in cursor.execute(SELECT_EPISODES, columns).fetchall():
            book.add_episode(stored_episode(row[:-1]), row[-1])
    if worked:
        for row in cursor.execute(SELECT_CASES, (list(worked),)).fetchall():
            book.add_case(stored_case(row), newest=False)
    if subjects:
        keys = [subject.key for subject in subjects]
        for row in cursor.execute(SELECT_NEWEST_CASES, (keys,)).fetchall():
            book.add_case(stored_case(row), newest=True)
    return book


def write_changes(cursor: psycopg.Cursor[Any], book: CaseBook) -> None:
    """Store what changed in the book. In order of ids, so that nothing depends on how a set is ordered."""
    store_suppressed(cursor, book.suppressed)
    if book.joined:
        for statement in DELETE_JOINED:
            cursor.execute(statement, (sorted(book.joined),))
    changed = sorted(book.changed_episodes, key=lambda key: key[1])
    if changed:
        episodes = [book.episodes[series][episode_id] for series, episode_id in changed]
        links = [(case, key[1]) for key in changed for case in sorted(book.links[key[1]])]
        cases = [book.cases[case_id] for case_id in sorted(book.changed_cases)]
        cursor.execute(STORE_EPISODES, _columns(map(episode_row, episodes)))
        _store_cases(cursor, cases)
        cursor.execute(STORE_LINKS, _columns(links))
    else:
        _store_cases(cursor, [book.cases[case_id] for case_id in sorted(book.changed_cases)])
    if book.openings:
        openings = [
            (opening.case_id, opening.version, opening.position, opening.occurred_at)
            for opening in book.openings
        ]
        cursor.execute(STORE_OPENINGS, _columns(openings))


def _store_cases(cursor: psycopg.Cursor[Any], cases: Sequence[Any]) -> None:
    if cases:
        # A case that was resolved goes before the one that was opened after it: one of a subject is unresolved.
        rows = sorted(map(case_row, cases), key=lambda row: row[3] != "resolved")
        cursor.execute(STORE_CASES, _columns(rows))


def _columns(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)]
