"""Changes that wait for another person, on Postgres, within the transaction of the log."""

from __future__ import annotations

from typing import Any

from psycopg.types.json import Jsonb

from rules_registry.adapters import change_statements
from rules_registry.adapters.postgres import Connection
from rules_registry.adapters.rows import change_of
from rules_registry.domain.audit.audit_entry import Subject
from rules_registry.domain.review.change_request import ChangeRequest


class PostgresChanges:
    """Reads and writes of one statement each."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def next_id(self) -> int:
        """An id that no change has had."""
        row = self._one(change_statements.NEXT_ID)
        assert row is not None  # an aggregate without GROUP BY is one row
        return int(row["next"])

    def get(self, change_id: int) -> ChangeRequest | None:
        """The change as it stands."""
        row = self._one(change_statements.CHANGE, change_id=change_id)
        return None if row is None else change_of(row)

    def open(self, subject: Subject) -> ChangeRequest | None:
        """The change of this subject that is a draft or submitted."""
        row = self._one(change_statements.OPEN, kind=subject.kind, subject=subject.id or "")
        return None if row is None else change_of(row)

    def keep(self, change: ChangeRequest, editor: str | None) -> None:
        """Writes a change; `editor` is who wrote its content, None where that was written before."""
        content = change.content
        values = {
            "change_id": change.change_id,
            "revision": change.revision,
            "content": Jsonb(dict(content.members)),
            "content_hash": content.hash,
            "kind": content.kind,
            "subject_kind": content.subject.kind,
            "subject_id": content.subject.id,
            "state": change.state,
            "editor": editor,
            "editors": list(change.editors),
            "created_at": change.created_at,
            "changed_at": change.changed_at,
            "break_glass": change.break_glass,
            "decided_by": change.decided_by,
            "decided_at": change.decided_at,
            "position": change.position,
            "reason": change.reason,
        }
        if editor is not None:
            self._connection.execute(change_statements.ADD_REVISION, values)
        self._connection.execute(change_statements.KEEP, values)

    def was_approved(self, rule_id: int, definition_hash: str) -> bool:
        """Whether somebody approved this definition for this rule."""
        row = self._one(change_statements.WAS_APPROVED, rule_id=str(rule_id), definition_hash=definition_hash)
        return bool(row and row["approved"])

    def _one(self, statement: str, **values: object) -> dict[str, Any] | None:
        return self._connection.execute(statement, values).fetchone()
