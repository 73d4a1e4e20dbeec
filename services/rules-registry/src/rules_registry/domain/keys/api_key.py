"""An API key, and what may be done with it.

A key is a name with a role. What its holder sends is a secret; a rotation gives another one, and the one before ends
at once or after an overlap:

    made           rotated            now+overlap
     |--- first -----|----- first -------|
                     |----- second ----------------------->  until its end, or until the key is revoked
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from rules_registry.domain.actor import Actor
from rules_registry.errors import KeyIsRevoked, KeyNameTaken, UnfitEnd

MAX_LIVING: Final = 1_000
NAME_PATTERN: Final = "^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$"
MAX_OVERLAP_SECONDS: Final = 30 * 86_400
_PREFIX_LENGTH: Final = 8

KeyState = Literal["ACTIVE", "EXPIRED", "REVOKED"]


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret by its hash; `prefix` is what it begins with. Times are ms since the epoch; `not_after` None: no end."""

    prefix: str
    sha256: str
    created_at: int
    not_after: int | None
    last_used_at: int | None = None

    def is_good(self, now_ms: int) -> bool:
        """Whether it lets somebody in."""
        return self.not_after is None or now_ms <= self.not_after


@dataclass(frozen=True, slots=True)
class Key:
    """A key with its secrets, the newest last."""

    name: str
    role: str
    created_at: int
    created_by: str
    secrets: Sequence[Secret]
    revoked_at: int | None = None
    revoked_by: str | None = None

    @property
    def newest(self) -> Secret:
        """The one that a rotation gave last."""
        return self.secrets[-1]

    def state(self, now_ms: int) -> KeyState:
        """What it is good for."""
        if self.revoked_at is not None:
            return "REVOKED"
        return "ACTIVE" if self.newest.is_good(now_ms) else "EXPIRED"


def is_name(text: str) -> bool:
    """Whether a key can have this name."""
    return re.fullmatch(NAME_PATTERN, text, re.ASCII) is not None and not text.endswith("\n")


def secret_of(clear: str, now_ms: int, not_after: int | None) -> Secret:
    """What is kept of a secret. Raises `UnfitEnd` for an end that has passed."""
    if not_after is not None and not_after <= now_ms:
        raise UnfitEnd
    return Secret(clear[:_PREFIX_LENGTH], hashlib.sha256(clear.encode()).hexdigest(), now_ms, not_after)


def made(name: str, role: str, actor: Actor, secret: Secret, names: Sequence[str]) -> Key:
    """A new key. `names` are those that are taken, in any case. Raises `KeyNameTaken`."""
    if name.lower() in {taken.lower() for taken in names}:
        raise KeyNameTaken(name)
    return Key(name, role, secret.created_at, actor.name, (secret,))


def rotated(key: Key, secret: Secret, overlap_seconds: int) -> Key:
    """The key with a new secret. The one before ends after the overlap, those before it now. Raises `KeyIsRevoked`."""
    if key.revoked_at is not None:
        raise KeyIsRevoked(key.name)
    # An end is the last good moment.
    now = secret.created_at - 1
    last = secret.created_at + 1_000 * overlap_seconds if overlap_seconds else now
    earlier = [_ended(one, now) for one in key.secrets[:-1]]
    return replace(key, secrets=(*earlier, _ended(key.newest, last), secret))


def revoked(key: Key, actor: Actor, now_ms: int) -> Key:
    """The key, good for nothing. Raises `KeyIsRevoked`."""
    if key.revoked_at is not None:
        raise KeyIsRevoked(key.name)
    return replace(key, revoked_at=now_ms, revoked_by=actor.name)


def _ended(secret: Secret, last_ms: int) -> Secret:
    if secret.not_after is not None and secret.not_after <= last_ms:
        return secret
    return replace(secret, not_after=last_ms)
