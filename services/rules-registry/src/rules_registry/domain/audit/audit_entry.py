"""An entry of the audit trail, and the text and hash by which it is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from rules_registry.domain.actor import Actor
from tripline_contracts.canonical import canonical_json, sha256_hex

FIRST_HASH: Final = "0" * 64
"""What the first entry has in place of a hash before it."""

SubjectKind = Literal["rule", "list", "parameter", "settings", "command", "key", "backtest"]
State = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Subject:
    """What an entry is about: of the settings there is one, so they have no id."""

    kind: SubjectKind
    id: str | None

    def to_json(self) -> dict[str, str | None]:
        """As it stands in entries and answers."""
        return {"kind": self.kind, "id": self.id}


@dataclass(frozen=True, slots=True)
class Happening:
    """What happened, apart from its place in the trail.

    `occurred_at` is in ms; `position` is that of the event in rules.v1, None for what the engine is not told. `before`
    and `after` are JSON, None where there was or is nothing.
    """

    type: str
    occurred_at: int
    actor: Actor
    subject: Subject
    position: int | None
    before: State | None
    after: State | None


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The last entry: its number, from 1, and its hash. Number 0 stands for no entry."""

    sequence: int = 0
    hash: str = FIRST_HASH


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A happening at its place: `text` is RFC 8785 JSON that holds the hash of the entry before, `hash` its SHA-256."""

    sequence: int
    text: str
    hash: str

    def members(self) -> dict[str, Any]:
        """What the text says; nothing if it was made something else than an object."""
        try:
            members = json.loads(self.text)
        except ValueError:
            return {}
        return members if isinstance(members, dict) else {}


def entry_after(head: ChainHead, happening: Happening) -> AuditEntry:
    """The entry that follows on `head`."""
    actor = happening.actor
    members = {
        "sequence": head.sequence + 1,
        "previousHash": head.hash,
        "type": happening.type,
        "occurredAt": happening.occurred_at,
        "actor": actor.name,
        "role": actor.role,
        "requestId": actor.request_id,
        "reason": actor.reason,
        "subject": happening.subject.to_json(),
        "position": happening.position,
        "before": None if happening.before is None else dict(happening.before),
        "after": None if happening.after is None else dict(happening.after),
    }
    data = canonical_json(members)
    return AuditEntry(head.sequence + 1, data.decode(), sha256_hex(data))
