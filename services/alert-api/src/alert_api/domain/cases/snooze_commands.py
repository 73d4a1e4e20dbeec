"""Decide: what a person may do about a snooze in its state. `snooze.after` says what it is after that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, assert_never

from alert_api.domain.cases.snooze import Snooze
from alert_api.domain.cases.snooze_events import (
    SnoozeApproved,
    SnoozeEnded,
    SnoozeRejected,
    SnoozeRequested,
    SnoozeStep,
)
from alert_api.domain.cases.snooze_scope import SnoozeScope
from alert_api.errors import (
    AnotherContent,
    SecondPersonNeeded,
    SnoozeNotPossible,
    SnoozeStateConflict,
)
from tripline_contracts.canonical import canonical_json, sha256_hex

DAY_MS: Final = 86_400_000


@dataclass(frozen=True, slots=True)
class SnoozePolicy:
    """What an installation decides about snoozes.

    :ivar four_eyes: a second person has to approve them
    :ivar longest_ms: how far ahead `until` may be
    """

    four_eyes: bool = True
    longest_ms: int = 90 * DAY_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSnooze:
    """`actor` asks that the scope be snoozed until the instant `until`, which is `expires_at` in ms."""

    actor: str
    now: int
    scope: SnoozeScope
    until: str
    expires_at: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Command:
    actor: str
    now: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproveSnooze(_Command):
    """`actor` approves what has this hash."""

    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectSnooze(_Command):
    """`actor` does not approve it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndSnooze(_Command):
    """`actor` ends it, or takes the request back."""


SnoozeCommand = ApproveSnooze | RejectSnooze | EndSnooze


def decide_request(command: RequestSnooze, policy: SnoozePolicy) -> SnoozeRequested:
    """The event of a request. Raises SnoozeNotPossible, which names the member."""
    if command.expires_at <= command.now:
        raise SnoozeNotPossible("until", "expected a time that has not passed")
    if command.expires_at - command.now > policy.longest_ms:
        raise SnoozeNotPossible(
            "until", f"expected a time within {policy.longest_ms // DAY_MS} days from now"
        )
    content = {**command.scope.to_json(), "until": command.until, "reason": command.reason}
    return SnoozeRequested(
        occurred_at=command.now,
        actor=command.actor,
        scope=command.scope,
        until=command.until,
        expires_at=command.expires_at,
        reason=command.reason,
        four_eyes=policy.four_eyes,
        content_hash=sha256_hex(canonical_json(content)),
    )


def decide_step(snooze: Snooze, command: SnoozeCommand) -> SnoozeStep:
    """The event that `command` causes.

    Raises SnoozeStateConflict where the state does not let it, SecondPersonNeeded for a decision by who asked for it,
    and AnotherContent for an approval of something else.
    """
    state, request = snooze.state(command.now), snooze.request
    expected = ("requested", "in_force") if isinstance(command, EndSnooze) else ("requested",)
    if state not in expected:
        raise SnoozeStateConflict(snooze.snooze_id, state, " or ".join(expected))
    if not isinstance(command, EndSnooze) and command.actor == request.actor:
        raise SecondPersonNeeded(snooze.snooze_id, command.actor)
    if isinstance(command, ApproveSnooze) and command.content_hash != request.content_hash:
        raise AnotherContent(snooze.snooze_id)
    return _event(command)(
        snooze_id=snooze.snooze_id,
        occurred_at=command.now,
        actor=command.actor,
        reason=command.reason,
        content_hash=request.content_hash,
    )


def _event(command: SnoozeCommand) -> type[SnoozeStep]:
    match command:
        case ApproveSnooze():
            return SnoozeApproved
        case RejectSnooze():
            return SnoozeRejected
        case EndSnooze():
            return SnoozeEnded
    assert_never(command)
