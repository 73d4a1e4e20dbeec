"""Reading lists and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rules_registry.adapters import named_statements
from rules_registry.adapters.postgres import Pool, translated
from rules_registry.adapters.rows import named_of
from rules_registry.domain.named_value import NamedEntry
from rules_registry.errors import NameNotFound
from tripline_contracts.filters import named_values
from tripline_contracts.filters.named_values import Kind


@dataclass(frozen=True, slots=True)
class NamedPage:
    """Rows by name, of a list without its values, and the name after which the next page begins (`None`: none)."""

    rows: Sequence[Mapping[str, Any]]
    next_after: str | None


class NamedQueries:
    """Reads of one statement each."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def page(self, kind: Kind, after: str, limit: int) -> NamedPage:
        """Lists or parameters by name, after a name ("": from the first)."""
        values = {"kind": kind, "after": after, "limit": limit + 1}
        with translated(), self._pool.connection() as connection:
            rows = connection.execute(named_statements.LISTING, values).fetchall()
        page = rows[:limit]
        return NamedPage(page, page[-1]["name"] if len(rows) > limit else None)

    def named(self, kind: Kind, name: str) -> NamedEntry:
        """The list or parameter. Raises `NameNotFound`."""
        # what is no name may be no text for Postgres either
        if not named_values.is_name(name):
            raise NameNotFound(kind, name)
        with translated(), self._pool.connection() as connection:
            row = connection.execute(named_statements.NAMED, {"kind": kind, "name": name}).fetchone()
        if row is None:
            raise NameNotFound(kind, name)
        return named_of(row)
