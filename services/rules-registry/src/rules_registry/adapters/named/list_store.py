"""Entries of lists within a transaction that holds the writer's lock."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rules_registry.adapters.named import entry_statements
from rules_registry.adapters.postgres import Connection
from rules_registry.adapters.rows import named_of
from rules_registry.domain.named_value import NamedEntry
from rules_registry.errors import ConcurrentChange
from tripline_contracts.filters.list_entries import EntriesChange


class PostgresLists:
    """Reads and writes entries, and the head of a list that they belong to."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def head(self, name: str) -> NamedEntry | None:
        """The list as it stands, without its values."""
        row = self._connection.execute(entry_statements.HEAD, {"name": name}).fetchone()
        return None if row is None else named_of(row)

    def standing(self, name: str, values: Collection[str]) -> Mapping[str, int | None]:
        """Those of the values that the list has, each with its end in ms."""
        asked = {"name": name, "values": list(values)}
        rows = self._connection.execute(entry_statements.STANDING, asked)
        return {row["value"]: row["until"] for row in rows}

    def keep(self, named: NamedEntry, change: EntriesChange) -> None:
        """Writes the entries of the last event, and what it made of the list's head."""
        changed = {
            **_head(named),
            "removed": list(change.removed),
            "added": [entry.value for entry in change.added],
            "untils": [entry.until for entry in change.added],
        }
        self._require(self._connection.execute(entry_statements.KEEP, changed).rowcount, named)

    def replace(self, named: NamedEntry, values: Sequence[str]) -> None:
        """Writes the whole list in place of what it was, and its head; none of its entries ends."""
        changed = {**_head(named), "values": list(values)}
        self._require(self._connection.execute(entry_statements.KEEP_HEAD, changed).rowcount, named)
        self._connection.execute(entry_statements.REMOVE_OTHERS, changed)
        self._connection.execute(entry_statements.KEEP_WHOLE, changed)

    def overdue(self, now_ms: int, most: int) -> Sequence[tuple[str, str]]:
        """Names and values of entries whose end has come."""
        rows = self._connection.execute(entry_statements.OVERDUE, {"now": now_ms, "limit": most})
        return [(row["name"], row["value"]) for row in rows]

    @staticmethod
    def _require(written: int, named: NamedEntry) -> None:
        if written != 1:
            raise ConcurrentChange(f"{named.name} is not at version {named.version - 1} any more.")


def _head(named: NamedEntry) -> dict[str, object]:
    return {
        "name": named.name,
        "version": named.version,
        "position": named.position,
        "changed_at": named.changed_at,
        "changed_by": named.changed_by,
    }
