"""Reading lists and parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rules_registry.adapters.named import entry_statements, named_statements
from rules_registry.adapters.postgres import Pool, translated
from rules_registry.adapters.rows import named_of
from rules_registry.domain.named_value import NamedEntry
from rules_registry.errors import NameNotFound
from tripline_contracts.filters import named_values
from tripline_contracts.filters.named_values import Kind

_FIRST_SURROGATE: Final = 0xD800
_AFTER_SURROGATES: Final = 0xE000
_LAST_CODE_POINT: Final = 0x10FFFF
_AFTER_ALL: Final = chr(_LAST_CODE_POINT) * (named_values.MAX_TEXT + 1)


@dataclass(frozen=True, slots=True)
class NamedPage:
    """Rows by name, of a list without its values, and the name after which the next page begins (`None`: none)."""

    rows: Sequence[Mapping[str, Any]]
    next_after: str | None


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Entries by value with the list's version, and the value after which the next page begins (`None`: none)."""

    version: int
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

    def entries(self, name: str, prefix: str, after: str, limit: int) -> EntryPage:
        """Entries of the list by value, those that begin with the prefix, after a value ("": from the first). Raises
        `NameNotFound`."""
        if not named_values.is_name(name):
            raise NameNotFound("list", name)
        asked = {
            "name": name,
            "prefix": prefix,
            "before": first_after(prefix),
            "after": after,
            "limit": limit + 1,
        }
        with translated(), self._pool.connection() as connection, connection.transaction():
            head = connection.execute(entry_statements.HEAD, {"name": name}).fetchone()
            if head is None:
                raise NameNotFound("list", name)
            rows = connection.execute(entry_statements.PAGE, asked).fetchall()
        page = rows[:limit]
        return EntryPage(head["version"], page, page[-1]["value"] if len(rows) > limit else None)

    def has_overdue(self, now_ms: int) -> bool:
        """Whether the end of some entry has come."""
        with translated(), self._pool.connection() as connection:
            row = connection.execute(entry_statements.OVERDUE, {"now": now_ms, "limit": 1}).fetchone()
        return row is not None


def first_after(prefix: str) -> str:
    """A text, by code point, after all values that begin with the prefix, and before all others that come after it."""
    for end in range(len(prefix), 0, -1):
        following = ord(prefix[end - 1]) + 1
        if following <= _LAST_CODE_POINT:
            return prefix[: end - 1] + chr(_AFTER_SURROGATES if following == _FIRST_SURROGATE else following)
    return _AFTER_ALL
