"""Cases as callers see them."""

from __future__ import annotations

import json
from typing import Any

from alert_api.domain.cases.peak import Peak
from alert_api.domain.cases.subject import Subject
from alert_api.service.cases.case_queries import CaseEvent, StoredCase, StoredEpisode


def case_json(stored: StoredCase) -> dict[str, Any]:
    """A case, with what its rules are called now, how severe they are, and when it is due by that."""
    case = stored.case
    return {
        "caseId": case.case_id,
        "version": case.version,
        "state": case.state,
        "subject": _subject_json(case.subject),
        "alertCount": case.count,
        "episodeCount": stored.episodes,
        "rules": [{"ruleId": rule_id, "ruleName": name} for rule_id, name in stored.rule_names.items()],
        "firstEventTime": case.first,
        "lastEventTime": case.last,
        "openedAt": case.opened_at,
        "changedAt": case.changed_at,
        "severity": stored.severity,
        "dueAt": stored.due_at,
        "acknowledgedBy": case.acknowledged_by,
        "acknowledgedAt": case.acknowledged_at,
        "assignee": case.assignee,
        "outcome": case.outcome,
        "resolvedBy": case.resolved_by,
        "resolvedAt": case.resolved_at,
    }


def _subject_json(subject: Subject) -> dict[str, Any]:
    known = json.loads(subject.text)
    return {name: known.get(name) for name in ("field", "value", "ruleId", "group")}


def episode_json(stored: StoredEpisode) -> dict[str, Any]:
    """An episode, with what its rule is called now."""
    episode = stored.episode
    return {
        "episodeId": episode.episode_id,
        "ruleId": episode.series.rule_id,
        "ruleName": stored.rule_name,
        "group": json.loads(episode.group),
        "firstEventTime": episode.first,
        "lastEventTime": episode.last,
        "openUntil": episode.until,
        "alertCount": episode.count,
        "peak": None if episode.peak is None else _peak_json(episode.peak),
    }


def _peak_json(peak: Peak) -> dict[str, Any]:
    measured = peak.measured
    return {
        "value": measured.value,
        "operator": measured.operator,
        "limit": measured.limit,
        "eventTime": peak.event_time,
        "alertId": peak.alert_id,
    }


def case_event_json(event: CaseEvent) -> dict[str, Any]:
    """Something that happened to a case."""
    return {
        "version": event.version,
        "type": event.kind,
        "occurredAt": event.occurred_at,
        "actor": event.actor,
        "comment": event.comment,
        "assignee": event.assignee,
        "outcome": event.outcome,
    }
