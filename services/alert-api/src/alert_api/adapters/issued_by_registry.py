"""Whether rule versions and void commands are the registry's own: whoever can write to a topic can make them up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, LiteralString

import psycopg

from alert_api.errors import RecordNotStorable
from alert_api.service.records import ReceivedAlert
from alert_api.service.void_commands import VoidCommand

_UNPUBLISHED = """
SELECT rule_id, version FROM unnest(%s::bigint[], %s::bigint[]) AS alert (rule_id, version)
EXCEPT SELECT rule_id, version FROM alerts.published_versions
"""
_UNSTARTED = """
SELECT rule_id, version FROM unnest(%s::bigint[], %s::bigint[]) AS alert (rule_id, version)
EXCEPT SELECT rule_id, version FROM alerts.started_shadows
"""
_UNISSUED = """
SELECT command_id::text, position FROM unnest(%s::uuid[], %s::bigint[]) AS void (command_id, position)
EXCEPT SELECT command_id::text, position FROM alerts.issued_voids
"""


class IssuedByRegistry:
    """Remembers the rule versions that it has seen in the log: they stay there."""

    def __init__(self) -> None:
        self._published: set[tuple[int, int]] = set()
        self._started: set[tuple[int, int]] = set()

    def check_alerts(self, cursor: psycopg.Cursor[Any], alerts: Iterable[ReceivedAlert]) -> None:
        """Raises RecordNotStorable for an alert of a rule version that was never published, promoted or rolled out."""
        _check(cursor, alerts, self._published, _UNPUBLISHED, "published")

    def check_shadows(self, cursor: psycopg.Cursor[Any], alerts: Iterable[ReceivedAlert]) -> None:
        """Raises RecordNotStorable for an alert of a version that was neither a shadow nor beside a rollout."""
        what = "started as a shadow, and none was rolled out beside it"
        _check(cursor, alerts, self._started, _UNSTARTED, what)

    def check_voids(self, cursor: psycopg.Cursor[Any], voids: Iterable[VoidCommand]) -> None:
        """Raises RecordNotStorable for a command that the registry has not issued."""
        asked = sorted({(void.command_id, void.position) for void in voids})
        if not asked:
            return
        unknown = cursor.execute(_UNISSUED, [list(column) for column in zip(*asked, strict=True)]).fetchall()
        if unknown:
            command_id, position = min(unknown)
            raise RecordNotStorable(f"command {command_id} at position {position} was never issued")


def _check(
    cursor: psycopg.Cursor[Any],
    alerts: Iterable[ReceivedAlert],
    known: set[tuple[int, int]],
    unknown_of: LiteralString,
    what: str,
) -> None:
    asked = sorted({(alert.rule_id, alert.rule_version) for alert in alerts} - known)
    if not asked:
        return
    unknown = cursor.execute(unknown_of, [list(column) for column in zip(*asked, strict=True)]).fetchall()
    if unknown:
        rule_id, version = min(unknown)
        raise RecordNotStorable(f"version {version} of rule {rule_id} was never {what}")
    known.update(asked)
