"""Giving out API keys, rotating and revoking them. Each is one transaction of the log, with an entry of the trail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rules_registry.domain.actor import Actor
from rules_registry.domain.audit.audit_entry import Happening, Subject
from rules_registry.domain.keys import api_key
from rules_registry.domain.keys.api_key import Key
from rules_registry.errors import KeyNotFound, QuotaExceeded
from rules_registry.service.audit_writer import tell
from rules_registry.service.ports import Clock, EventStore, Log


@dataclass(frozen=True, slots=True)
class GivenKey:
    """A key and its new secret, which is told this once."""

    key: Key
    clear: str


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """`new_secret` makes a random secret; `elsewhere` gives the names of keys that are not given out here."""

    store: EventStore
    clock: Clock
    new_secret: Callable[[], str]
    elsewhere: Callable[[], Sequence[str]]

    def give_out(self, actor: Actor, name: str, role: str, not_after: int | None) -> GivenKey:
        """A new key. Raises `KeyNameTaken`, `UnfitEnd`, `QuotaExceeded`."""
        clear = self.new_secret()
        with self.store.writing() as log:
            secret = api_key.secret_of(clear, self.clock(), not_after)
            names = [*log.api_keys.names(), *self.elsewhere()]
            key = api_key.made(name, role, actor, secret, names)
            living = log.api_keys.living() + 1
            if living > api_key.MAX_LIVING:
                raise QuotaExceeded("apiKeys", "API keys", living, api_key.MAX_LIVING)
            log.api_keys.add(key)
            self._tell(log, "KeyGivenOut", None, key, actor, secret.created_at)
        return GivenKey(key, clear)

    def rotate(
        self, actor: Actor, name: str, overlap_seconds: int, end: Callable[[int | None], int | None]
    ) -> GivenKey:
        """A new secret; `end` gives its end (ms), from that of the one before. Raises `KeyNotFound`, `KeyIsRevoked`,
        `UnfitEnd`."""
        clear = self.new_secret()
        with self.store.writing() as log:
            before = self._get(log, name)
            secret = api_key.secret_of(clear, self.clock(), end(before.newest.not_after))
            key = api_key.rotated(before, secret, overlap_seconds)
            log.api_keys.keep(key)
            self._tell(log, "KeyRotated", before, key, actor, secret.created_at)
        return GivenKey(key, clear)

    def revoke(self, actor: Actor, name: str) -> None:
        """None of its secrets lets anybody in any more. Raises `KeyNotFound`, `KeyIsRevoked`."""
        with self.store.writing() as log:
            before, now = self._get(log, name), self.clock()
            key = api_key.revoked(before, actor, now)
            log.api_keys.keep(key)
            self._tell(log, "KeyRevoked", before, key, actor, now)

    def _get(self, log: Log, name: str) -> Key:
        # What is no name may be no text for Postgres either.
        key = log.api_keys.get(name) if api_key.is_name(name) else None
        if key is None:
            raise KeyNotFound(name)
        return key

    def _tell(self, log: Log, kind: str, before: Key | None, after: Key, actor: Actor, now_ms: int) -> None:
        subject = Subject("key", after.name)
        told = None if before is None else _state(before)
        happening = Happening(kind, now_ms, actor, subject, None, told, _state(after))
        tell(log, happening)


def _state(key: Key) -> dict[str, Any]:
    """A key in the trail: what tells secrets from one another, and nothing that could be tried out."""
    return {
        "role": key.role,
        "revokedAt": key.revoked_at,
        "secrets": [{"prefix": one.prefix, "notAfter": one.not_after} for one in key.secrets],
    }
