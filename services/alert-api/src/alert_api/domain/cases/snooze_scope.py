"""The alerts that a snooze covers: of a rule, about a subject, of a group, or what is all of these at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from alert_api.domain.cases.alert_facts import AlertFacts
from alert_api.domain.cases.episode import group_identity
from alert_api.domain.cases.policy import CasePolicy
from alert_api.domain.cases.subject import Subject, subject_of


class Coordinates(NamedTuple):
    """Rule, subject's key and group's key; None where it may be any."""

    rule_id: int | None
    subject_key: str | None
    group_key: str | None


@dataclass(frozen=True, slots=True)
class SnoozeScope:
    """At least one of the three is given, and all that are given must hold.

    :ivar subject: field and value, as a case is about them
    :ivar group: the alert's whole group: an alert whose group has more fields is of another one
    """

    rule_id: int | None = None
    subject: tuple[str, str] | None = None
    group: Mapping[str, str] | None = field(default=None, hash=False)

    @property
    def coordinates(self) -> Coordinates:
        """To find it by."""
        subject = None if self.subject is None else Subject.of_field(*self.subject).key
        group = None if self.group is None else group_identity(self.group)[1]
        return Coordinates(self.rule_id, subject, group)

    def to_json(self) -> dict[str, Any]:
        subject = None if self.subject is None else dict(zip(("field", "value"), self.subject, strict=True))
        group = None if self.group is None else dict(self.group)
        return {"ruleId": self.rule_id, "subject": subject, "group": group}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        subject = body["subject"]
        return cls(
            body["ruleId"], None if subject is None else (subject["field"], subject["value"]), body["group"]
        )


def coordinates_of(alert: AlertFacts, policy: CasePolicy) -> Coordinates:
    """Those of an alert, all three given."""
    subject = subject_of(alert.rule_id, alert.group, policy)
    return Coordinates(alert.rule_id, subject.key, group_identity(alert.group)[1])
