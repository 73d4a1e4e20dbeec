"""What people do about snoozes, as the log keeps it."""

from __future__ import annotations

from dataclasses import dataclass

from alert_api.domain.cases.snooze_scope import SnoozeScope


@dataclass(frozen=True, slots=True, kw_only=True)
class SnoozeRequested:
    """`actor` asks that alerts of the scope be snoozed.

    :ivar until: the instant as it was asked for, in RFC 3339
    :ivar expires_at: the same in ms since the epoch: what is detected from then on is not covered
    :ivar four_eyes: a second person has to approve it; otherwise it is in force from its position on
    """

    occurred_at: int
    actor: str
    scope: SnoozeScope
    until: str
    expires_at: int
    reason: str
    four_eyes: bool
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """`occurred_at` in ms since the epoch; `content_hash` is of the request that the step is about."""

    snooze_id: int
    occurred_at: int
    actor: str
    reason: str
    content_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SnoozeApproved(_Step):
    """`actor`, who is not who asked for it, lets it come into force at this position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnoozeRejected(_Step):
    """`actor`, who is not who asked for it, does not let it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnoozeEnded(_Step):
    """`actor` ends it before its time, or takes the request back."""


SnoozeStep = SnoozeApproved | SnoozeRejected | SnoozeEnded
SNOOZE_STEPS: dict[str, type[SnoozeStep]] = {
    kind.__name__: kind for kind in (SnoozeApproved, SnoozeRejected, SnoozeEnded)
}
SnoozeEvent = SnoozeRequested | SnoozeStep
