"""Rows of episodes and cases as values, and back."""

from __future__ import annotations

from typing import Any, Final, LiteralString

from alert_api.domain.cases.alert_facts import Measured
from alert_api.domain.cases.case import Case
from alert_api.domain.cases.episode import Episode, Series
from alert_api.domain.cases.peak import Peak
from alert_api.domain.cases.subject import Subject
from alert_api.domain.events import AlertId

EPISODE_COLUMNS: Final[LiteralString] = """
    e.episode_id, e.rule_id, e.group_key, e.group_text, e.first, e.last, e.until, e.count,
    e.peak_value, e.peak_operator, e.peak_limit, e.peak_event_time, e.peak_alert_id::text
"""
"""Of `alerts.episodes e`, in the order in which `stored_episode` takes them."""

CASE_COLUMNS: Final[LiteralString] = """
    c.case_id, c.subject, c.state, c.version, c.count, c.first, c.last, c.rule_ids, c.opened_at, c.changed_at,
    c.active_since, c.active_at, c.acknowledged_by, c.acknowledged_at, c.assignee, c.outcome, c.resolved_by,
    c.resolved_at
"""
"""Of `alerts.cases c`, in the order in which `stored_case` takes them."""


def stored_episode(row: tuple[Any, ...]) -> Episode:
    """The episode that a row of EPISODE_COLUMNS is."""
    episode_id, rule_id, group_key, group, first, last, until, count, *peak = row
    value, operator, limit, event_time, alert_id = peak
    highest = None if value is None else Peak(Measured(value, operator, limit), event_time, AlertId(alert_id))
    return Episode(episode_id, Series(rule_id, group_key), group, first, last, until, count, highest)


def episode_row(episode: Episode) -> tuple[Any, ...]:
    """The values of EPISODE_COLUMNS."""
    peak = episode.peak
    highest = (
        (None,) * 5
        if peak is None
        else (
            peak.measured.value,
            peak.measured.operator,
            peak.measured.limit,
            peak.event_time,
            peak.alert_id,
        )
    )
    return (
        episode.episode_id,
        *episode.series,
        episode.group,
        episode.first,
        episode.last,
        episode.until,
        episode.count,
        *highest,
    )


def stored_case(row: tuple[Any, ...]) -> Case:
    """The case that a row of CASE_COLUMNS is."""
    case_id, subject, state, version, count, first, last, rule_ids, *rest = row
    return Case(case_id, Subject(subject), state, version, count, first, last, tuple(rule_ids), *rest)


def case_row(case: Case) -> tuple[Any, ...]:
    """The values of CASE_COLUMNS with the subject's key behind its text; rules as an array's text."""
    return (
        case.case_id,
        case.subject.text,
        case.subject.key,
        case.state,
        case.version,
        case.count,
        case.first,
        case.last,
        "{" + ",".join(map(str, case.rule_ids)) + "}",
        case.opened_at,
        case.changed_at,
        case.active_since,
        case.active_at,
        case.acknowledged_by,
        case.acknowledged_at,
        case.assignee,
        case.outcome,
        case.resolved_by,
        case.resolved_at,
    )
