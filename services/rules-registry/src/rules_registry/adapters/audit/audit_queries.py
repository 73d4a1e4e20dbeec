"""Reading the audit trail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from rules_registry.adapters.audit import audit_statements
from rules_registry.adapters.postgres import Pool, translated
from rules_registry.adapters.rows import entry_of, head_of
from rules_registry.domain.audit.audit_entry import AuditEntry, ChainHead

_BATCH = 500


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """A filter of entries; `None` filters nothing. `since` and `until` are in ms, the second exclusive."""

    actor: str | None = None
    type: str | None = None
    kind: str | None = None
    subject: str | None = None
    since: int | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries in order, and the number after which the next page begins (`None`: this is the last one)."""

    entries: Sequence[AuditEntry]
    next_after: int | None


class AuditQueries:
    """Reads of one statement each."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def page(self, wanted: AuditFilter, after: int, limit: int, *, newest_first: bool = False) -> AuditPage:
        """Entries after that number; with `newest_first` before it, and 0 is before the newest."""
        statement = audit_statements.NEWEST if newest_first else audit_statements.ENTRIES
        values = {**asdict(wanted), "after": after, "limit": limit + 1}
        with translated(), self._pool.connection() as connection:
            rows = connection.execute(statement, values).fetchall()
        entries = [entry_of(row) for row in rows[:limit]]
        return AuditPage(entries, entries[-1].sequence if len(rows) > limit else None)

    def all(self, wanted: AuditFilter, after: int = 0) -> Iterator[AuditEntry]:
        """Every entry after that number, some hundreds in memory at a time. The first are read at once, so that a store
        that is not there is an answer and not the end of one."""
        return self._all(wanted, self.page(wanted, after, _BATCH))

    def _all(self, wanted: AuditFilter, page: AuditPage) -> Iterator[AuditEntry]:
        yield from page.entries
        while page.next_after is not None:
            page = self.page(wanted, page.next_after, _BATCH)
            yield from page.entries

    def head(self) -> ChainHead:
        """The last entry; number 0 where there is none."""
        with translated(), self._pool.connection() as connection:
            row = connection.execute(audit_statements.HEAD).fetchone()
        return head_of(row)
