"""A snooze: alerts of a scope are kept out of episodes and cases for a time, and are marked with it.

    requested ──▶ in force ──▶ expired        expired by the clock, at `until`
        │  └──▶ rejected └───▶ ended           ended by a person, before its time
        └─────▶ ended, expired

Without four eyes it is in force from the request on. In the log it holds from the position at which it came into force
up to that at which it was ended, for alerts that were detected before `until`: so the log alone decides what it covers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal, assert_never, get_args

from alert_api.domain.cases.alert_facts import AlertFacts
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.snooze_events import (
    SnoozeApproved,
    SnoozeEnded,
    SnoozeRejected,
    SnoozeRequested,
    SnoozeStep,
)
from alert_api.domain.cases.snooze_scope import Coordinates, coordinates_of
from alert_api.errors import LifecycleBroken

SnoozeState = Literal["requested", "in_force", "rejected", "ended", "expired"]
SNOOZE_STATES: tuple[SnoozeState, ...] = get_args(SnoozeState)


@dataclass(frozen=True, slots=True)
class Snooze:
    """:ivar snooze_id: the position of the request in the log
    :ivar decision: of the second person, where there was one
    :ivar end: before its time, by a person
    """

    snooze_id: int
    request: SnoozeRequested
    version: int = 1
    decision: SnoozeApproved | SnoozeRejected | None = None
    end: SnoozeEnded | None = None

    @property
    def covers(self) -> bool:
        """Whether what follows in the log is covered, if it was detected in time."""
        approved = not self.request.four_eyes or isinstance(self.decision, SnoozeApproved)
        return approved and self.end is None

    def state(self, now: int) -> SnoozeState:
        """By the clock, in ms since the epoch."""
        if isinstance(self.decision, SnoozeRejected):
            return "rejected"
        if self.end is not None:
            return "ended"
        if now >= self.request.expires_at:
            return "expired"
        return "in_force" if self.covers else "requested"


def after(snooze: Snooze, step: SnoozeStep) -> Snooze:
    """The snooze after a step. Raises LifecycleBroken for what cannot have been allowed."""
    if snooze.end is not None or isinstance(snooze.decision, SnoozeRejected):
        raise LifecycleBroken(f"snooze {snooze.snooze_id} was over when {type(step).__name__}")
    version = snooze.version + 1
    match step:
        case SnoozeEnded():
            return replace(snooze, version=version, end=step)
        case SnoozeApproved() | SnoozeRejected():
            if snooze.decision is not None or not snooze.request.four_eyes:
                raise LifecycleBroken(f"snooze {snooze.snooze_id} was decided when {type(step).__name__}")
            return replace(snooze, version=version, decision=step)
    assert_never(step)


# Each of the three given or not, but for none of them: where a snooze that covers an alert may be found.
_CHOICES: Final = tuple(
    (rule, subject, group)
    for rule, subject, group in itertools.product((True, False), repeat=3)
    if rule or subject or group
)


class Silence:
    """The snoozes that may cover what comes, found by rule, subject and group without looking at each of them."""

    def __init__(self, snoozes: Iterable[Snooze] = ()) -> None:
        self._snoozes: dict[int, Snooze] = {}
        self._covering: dict[Coordinates, dict[int, int]] = {}
        for snooze in snoozes:
            self._put(snooze)

    def request(self, position: int, request: SnoozeRequested) -> None:
        """Somebody asked for one."""
        self._put(Snooze(position, request))

    def step(self, step: SnoozeStep) -> None:
        """Something was done about one of them."""
        snooze = self._snoozes.get(step.snooze_id)
        if snooze is None:
            raise LifecycleBroken(f"nobody asked for snooze {step.snooze_id}")
        self._put(after(snooze, step))

    def covering(self, alert: AlertFacts, policy: CasePolicy) -> int | None:
        """The snooze that covers an alert; of several the one that was asked for first."""
        if not self._covering:
            return None
        full = coordinates_of(alert, policy)
        covering = [
            snooze_id
            for choice in _CHOICES
            for snooze_id, expires_at in self._covering.get(_part(full, choice), {}).items()
            if alert.detected_at < expires_at
        ]
        return min(covering, default=None)

    def _put(self, snooze: Snooze) -> None:
        self._snoozes[snooze.snooze_id] = snooze
        coordinates = snooze.request.scope.coordinates
        known = self._covering.setdefault(coordinates, {})
        if snooze.covers:
            known[snooze.snooze_id] = snooze.request.expires_at
        else:
            known.pop(snooze.snooze_id, None)
        if not known:
            del self._covering[coordinates]


def _part(full: Coordinates, choice: tuple[bool, bool, bool]) -> Coordinates:
    by_rule, by_subject, by_group = choice
    return Coordinates(
        full.rule_id if by_rule else None,
        full.subject_key if by_subject else None,
        full.group_key if by_group else None,
    )
