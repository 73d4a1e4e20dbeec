"""A change that waits for another person: what is asked for, in revisions, and how far it has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from rules_registry.domain.actor import Actor
from rules_registry.domain.audit.audit_entry import State, Subject
from rules_registry.domain.review.lifecycle import STEPS, Lifecycle, after
from rules_registry.errors import IllegalStep, OtherRevision, SamePerson
from tripline_contracts.canonical import canonical_json, sha256_hex

ChangeKind = Literal[
    "PUBLISH_RULE",
    "CHANGE_RULE",
    "PAUSE_RULE",
    "RESUME_RULE",
    "DELETE_RULE",
    "START_SHADOW",
    "ROLL_OUT_SHADOW",
    "END_SHADOW",
    "PROMOTE_SHADOW",
    "LIST",
    "LIST_ENTRIES",
    "PARAMETER",
    "SETTINGS",
    "COMMAND",
]


EDITABLE: Final = ("PUBLISH_RULE", "CHANGE_RULE")
"""Kinds of which there are drafts; the others are submitted at once."""


LONG: Final = ("LIST", "LIST_ENTRIES")
"""Kinds whose content may be too long for a listing, and for the trail."""


@dataclass(frozen=True, slots=True)
class Content:
    """What is asked for, as JSON, with `hash` over kind, subject and content: the SHA-256 of their RFC 8785 JSON. An
    approval is of this hash."""

    kind: ChangeKind
    subject: Subject
    members: Mapping[str, Any]
    hash: str = field(init=False)

    def __post_init__(self) -> None:
        """The hash is taken once: a list may be long, and is asked for it at every step."""
        said = {"kind": self.kind, "subject": self.subject.to_json(), "content": dict(self.members)}
        object.__setattr__(self, "hash", sha256_hex(canonical_json(said)))


@dataclass(frozen=True, slots=True)
class ChangeRequest:
    """A change as it stands. Times in ms; `editors` are all who had a hand in it, the author first.

    `decided_by` approved it, or reviewed it where `break_glass` let it happen before; `position` is that of the event
    that came of it, None for none. `reason` is what was said at the last step, or at the draft that was submitted.
    """

    change_id: int
    revision: int
    content: Content
    state: Lifecycle
    editors: tuple[str, ...]
    created_at: int
    changed_at: int
    break_glass: bool = False
    decided_by: str | None = None
    decided_at: int | None = None
    position: int | None = None
    reason: str | None = None

    @property
    def title(self) -> str:
        """As a sentence begins that is about it."""
        return f"Change {self.change_id}"

    @property
    def awaits_review(self) -> bool:
        """True where somebody acted alone and nobody has looked at it yet."""
        return self.break_glass and self.decided_by is None

    def to_state(self) -> State:
        """How it stands, for the audit trail; of a list its hash only."""
        shown = {} if self.content.kind in LONG else {"content": dict(self.content.members)}
        return {
            "changeId": self.change_id,
            "revision": self.revision,
            "kind": self.content.kind,
            "state": self.state,
            "contentHash": self.content.hash,
            "editors": list(self.editors),
            "breakGlass": self.break_glass,
            "decidedBy": self.decided_by,
            **shown,
        }


def edited(change: ChangeRequest, content: Content, actor: Actor, now_ms: int) -> ChangeRequest:
    """With another content, in its next revision. Raises `IllegalStep`."""
    state = after(change.state, "edit", change.title)
    editors = change.editors if actor.name in change.editors else (*change.editors, actor.name)
    return replace(
        change,
        content=content,
        state=state,
        revision=change.revision + 1,
        editors=editors,
        changed_at=now_ms,
        reason=actor.reason,
    )


def submitted(change: ChangeRequest, actor: Actor, now_ms: int) -> ChangeRequest:
    """Handed to an approver. What was said with the draft holds on, where nothing is said now and nobody has edited or
    rejected it since. Raises `IllegalStep`."""
    state = after(change.state, "submit", change.title)
    said = change.reason if change.changed_at == change.created_at else None
    return replace(change, state=state, changed_at=now_ms, reason=actor.reason or said)


def rejected(change: ChangeRequest, actor: Actor, now_ms: int) -> ChangeRequest:
    """A draft again; what cannot be edited is given up. Raises `IllegalStep`."""
    state = after(change.state, "reject", change.title)
    if change.content.kind not in EDITABLE:
        state = after(state, "withdraw", change.title)
    return replace(change, state=state, changed_at=now_ms, reason=actor.reason)


def withdrawn(change: ChangeRequest, actor: Actor, now_ms: int) -> ChangeRequest:
    """Given up. Raises `IllegalStep`."""
    state = after(change.state, "withdraw", change.title)
    return replace(change, state=state, changed_at=now_ms, reason=actor.reason)


def approved(change: ChangeRequest, content_hash: str, actor: Actor, now_ms: int) -> ChangeRequest:
    """Approved by somebody who had no hand in it and has seen this content. Raises `IllegalStep`, `OtherRevision` and
    `SamePerson`."""
    state = after(change.state, "approve", change.title)
    _require_another(change, content_hash, actor)
    return replace(
        change,
        state=state,
        changed_at=now_ms,
        decided_by=actor.name,
        decided_at=now_ms,
        reason=actor.reason,
    )


def reviewed(change: ChangeRequest, content_hash: str, actor: Actor, now_ms: int) -> ChangeRequest:
    """Looked at afterwards, by somebody who had no hand in it. Raises `IllegalStep`, `OtherRevision`, `SamePerson`."""
    if not change.awaits_review:
        raise IllegalStep(change.title, change.state, "review", tuple(STEPS[change.state]))
    _require_another(change, content_hash, actor)
    return replace(change, changed_at=now_ms, decided_by=actor.name, decided_at=now_ms, reason=actor.reason)


def _require_another(change: ChangeRequest, content_hash: str, actor: Actor) -> None:
    if content_hash != change.content.hash:
        raise OtherRevision(change.change_id, change.revision)
    if actor.name in change.editors:
        raise SamePerson(change.change_id, actor.name)
