"""Sessions of the console: what a browser has in place of a key, and when it is worth nothing any more.

The browser has a random id. The database has its hash, and the key or token sealed under the id: neither of them alone
gives the key away. Each request's key is judged anew, so a session is good no longer than its key.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from tripline_http.keys.caller import Caller

LONGEST_MS: Final = 12 * 3_600_000
"""A session ends after a working day, however long its key is good for."""
MOST_PER_ACTOR: Final = 16
"""A further one ends the oldest of its actor's."""
ID_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class SealedSession:
    """A session as it is stored; times are ms since the epoch."""

    sha256: str
    actor: str
    sealed: bytes
    created_at: int
    expires_at: int


@dataclass(frozen=True, slots=True)
class Session:
    """An open session. `page_token` is what its pages send along, and no other page knows."""

    session_id: str
    credential: str
    page_token: str
    expires_at: int


class SessionStore(Protocol):
    """Where sealed sessions are. All raise StoreUnavailable."""

    def add(self, session: SealedSession, most: int) -> None:
        """Stores it, and forgets those that had ended when it began, and the actor's oldest beyond `most`."""

    def find(self, sha256: str, now: int) -> SealedSession | None:
        """The one with this hash, unless it has ended."""

    def remove(self, sha256: str) -> None:
        """Forgets it, if it is there."""


class Seal(Protocol):
    """Authenticated encryption under a key of `ID_BYTES` random bytes, in base64url without padding."""

    def seal(self, key: str, data: bytes) -> bytes:
        """What only the key opens."""

    def unseal(self, key: str, sealed: bytes) -> bytes:
        """Raises ValueError where the key is another one, or what was sealed has been changed."""


class SessionDesk:
    """Opens sessions, finds them and ends them."""

    def __init__(self, store: SessionStore, seal: Seal, clock: Callable[[], int]) -> None:
        """`clock` gives ms since the epoch."""
        self._store, self._seal, self._clock = store, seal, clock

    def open(self, caller: Caller, credential: str) -> Session:
        """A new session of the caller, which ends with its key or token at the latest. Raises StoreUnavailable."""
        now = self._clock()
        end = now + LONGEST_MS
        if caller.not_after is not None:
            end = min(end, int(caller.not_after * 1000))
        session = Session(secrets.token_urlsafe(ID_BYTES), credential, secrets.token_urlsafe(ID_BYTES), end)
        content = json.dumps({"credential": credential, "pageToken": session.page_token}).encode()
        sealed = self._seal.seal(session.session_id, content)
        stored = SealedSession(_sha256(session.session_id), caller.name, sealed, now, end)
        self._store.add(stored, MOST_PER_ACTOR)
        return session

    def find(self, session_id: str) -> Session | None:
        """The session with this id, unless it has ended. Raises StoreUnavailable."""
        stored = self._store.find(_sha256(session_id), self._clock())
        if stored is None:
            return None
        try:
            content = json.loads(self._seal.unseal(session_id, stored.sealed))
        except ValueError:
            # Somebody changed the table by hand: nobody is let in by it.
            return None
        return Session(session_id, content["credential"], content["pageToken"], stored.expires_at)

    def end(self, session_id: str) -> None:
        """From now on its id is worth nothing. Raises StoreUnavailable."""
        self._store.remove(_sha256(session_id))


def _sha256(session_id: str) -> str:
    return hashlib.sha256(session_id.encode()).hexdigest()
