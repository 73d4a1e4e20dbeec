"""``NoticeStore`` over one connection, opened when needed and again after it broke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from alert_api.adapters.notifications.notice_feed import notices_after
from alert_api.adapters.postgres_errors import HeldConnection
from alert_api.domain.notifications.case_notice import CaseNotice

# Held until the transaction ends: of two publishers one waits.
LOCK_POSITION = "SELECT position FROM alerts.notice_cursor FOR UPDATE"
MOVE_POSITION = "UPDATE alerts.notice_cursor SET position = %s"


class PostgresNotices(HeldConnection):
    """The publisher's side of the database."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn, "tripline-notifier", "SELECT position FROM alerts.notice_cursor")

    @contextmanager
    def next_batch(self, limit: int) -> Iterator[Sequence[CaseNotice]]:
        """The notices behind the position, which moves behind them where nothing is raised."""
        with self._transaction() as cursor:
            [(position,)] = cursor.execute(LOCK_POSITION).fetchall()
            notices = notices_after(cursor, position, limit)
            yield notices
            if notices:
                cursor.execute(MOVE_POSITION, (notices[-1].position,))
