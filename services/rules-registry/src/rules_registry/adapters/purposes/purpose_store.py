"""Purposes of rules on Postgres: within the transaction of the log, and for those who read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rules_registry.adapters.postgres import Connection, Pool, translated
from rules_registry.domain.purposes.rule_purpose import KeptPurpose, Purpose
from rules_registry.errors import RuleNotFound

_PURPOSE: Final = """
SELECT version, description, severity, tags, owner, playbook FROM registry.rule_purposes WHERE rule_id = %(rule_id)s
"""
# From the rules, so that one without a purpose is told from none.
_OF_RULE: Final = """
SELECT coalesce(p.version, 0) AS version, p.description, p.severity, coalesce(p.tags, '{}') AS tags, p.owner, p.playbook
FROM registry.rules LEFT JOIN registry.rule_purposes p USING (rule_id) WHERE rule_id = %(rule_id)s
"""
_KEEP: Final = """
INSERT INTO registry.rule_purposes (rule_id, version, description, severity, tags, owner, playbook)
VALUES (%(rule_id)s, %(version)s, %(description)s, %(severity)s, %(tags)s, %(owner)s, %(playbook)s)
ON CONFLICT (rule_id) DO UPDATE SET
    version = excluded.version, description = excluded.description, severity = excluded.severity,
    tags = excluded.tags, owner = excluded.owner, playbook = excluded.playbook
"""


class PostgresPurposes:
    """Reads and writes of one statement each."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def get(self, rule_id: int) -> KeptPurpose:
        """The purpose as it stands."""
        row = self._connection.execute(_PURPOSE, {"rule_id": rule_id}).fetchone()
        return KeptPurpose() if row is None else _kept(row)

    def keep(self, rule_id: int, kept: KeptPurpose) -> None:
        """Writes the purpose in place of the one before."""
        values = {**kept.purpose.to_json(), "rule_id": rule_id, "version": kept.version}
        self._connection.execute(_KEEP, values)


class PurposeQueries:
    """Reads of one statement each."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def get(self, rule_id: int) -> KeptPurpose:
        """The purpose of a rule, deleted or not. Raises `RuleNotFound`."""
        with translated(), self._pool.connection() as connection:
            row = connection.execute(_OF_RULE, {"rule_id": rule_id}).fetchone()
        if row is None:
            raise RuleNotFound(rule_id)
        return _kept(row)


def _kept(row: Mapping[str, Any]) -> KeptPurpose:
    purpose = Purpose(
        description=row["description"],
        severity=row["severity"],
        tags=tuple(row["tags"]),
        owner=row["owner"],
        playbook=row["playbook"],
    )
    return KeptPurpose(row["version"], purpose)
