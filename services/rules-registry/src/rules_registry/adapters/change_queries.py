"""Reading changes that another person has to approve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rules_registry.adapters import change_statements
from rules_registry.adapters.postgres import Pool, translated
from rules_registry.adapters.rows import change_of
from rules_registry.domain.review.change_request import ChangeRequest
from rules_registry.errors import ChangeNotFound


@dataclass(frozen=True, slots=True)
class ChangeFilter:
    """A filter of changes; `None` filters nothing. `unreviewed` is for what was done by one person alone."""

    state: str | None = None
    kind: str | None = None
    subject: str | None = None
    unreviewed: bool | None = None


class ChangeQueries:
    """Reads of one statement each."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def change(self, change_id: int) -> ChangeRequest:
        """The change. Raises `ChangeNotFound`."""
        with translated(), self._pool.connection() as connection:
            row = connection.execute(change_statements.CHANGE, {"change_id": change_id}).fetchone()
        if row is None:
            raise ChangeNotFound(change_id)
        return change_of(row)

    def page(
        self, wanted: ChangeFilter, after: int, limit: int
    ) -> tuple[Sequence[ChangeRequest], int | None]:
        """Changes, newest first, and the id after which the next page begins (`None`: this is the last one)."""
        values = {**asdict(wanted), "after": after, "limit": limit + 1}
        with translated(), self._pool.connection() as connection:
            rows = connection.execute(change_statements.LISTING, values).fetchall()
        changes = [change_of(row) for row in rows[:limit]]
        return changes, changes[-1].change_id if len(rows) > limit else None
