"""Sessions of the console, in memory."""

from __future__ import annotations

from alert_api.service.sessions import SealedSession


class FakeSessions:
    """Sessions in memory with the contract of the Postgres ones."""

    def __init__(self) -> None:
        self.rows: dict[str, SealedSession] = {}
        self.broken: Exception | None = None

    def add(self, session: SealedSession, most: int) -> None:
        self._check()
        self.rows[session.sha256] = session
        newest = sorted(self.rows.values(), key=lambda row: (-row.created_at, row.sha256))
        beyond = [row.sha256 for row in newest if row.actor == session.actor][most:]
        ended = [row.sha256 for row in newest if row.expires_at <= session.created_at]
        for sha256 in {*beyond, *ended}:
            del self.rows[sha256]

    def find(self, sha256: str, now: int) -> SealedSession | None:
        self._check()
        row = self.rows.get(sha256)
        return row if row is not None and row.expires_at > now else None

    def remove(self, sha256: str) -> None:
        self._check()
        self.rows.pop(sha256, None)

    def _check(self) -> None:
        if self.broken is not None:
            raise self.broken
