"""The claim of an alert: which version judged which transaction, and at which moment of the order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tripline_contracts.canonical import alert_id
from tripline_contracts.event_type import SIDE, EventType


class UnreadableClaim(ValueError):
    """The alert lacks a member that says what is to be proved; the message names it."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """A transaction whose acceptance brings an alert about; its event time in ms."""

    transaction_id: str
    event_time: int


@dataclass(frozen=True, slots=True)
class Claim:
    """What is to be proved of an alert. Its value and its contributors are no part of it.

    :ivar alert_id: that such an alert has to have
    :ivar occasion: the transaction that brought it about: its own, or the late one for which it was judged again; None
        for an alert of a version's catch-up, which the rule's event brought about
    """

    alert_id: str
    rule_id: int
    version: int
    group: tuple[tuple[str, str], ...]
    transaction_id: str
    event_time: int
    occasion: Occasion | None

    @staticmethod
    def of(alert: Mapping[str, Any], event_type: EventType) -> Claim:
        """The claim of an alert as alerts.v1 carries it. Raises UnreadableClaim."""
        transaction = _member(alert, "transaction", dict)
        event_time = _member(transaction, event_type.time_field.name, int)
        transaction_id = _member(transaction, event_type.id_field.name, str)
        rule_id, version = _member(alert, "ruleId", int), _member(alert, "ruleVersion", int)
        group = _group(_member(alert, "group", dict))
        return Claim(
            alert_id=alert_id(rule_id, version, dict(group), transaction_id, event_time, _side(alert)),
            rule_id=rule_id,
            version=version,
            group=group,
            transaction_id=transaction_id,
            event_time=event_time,
            occasion=_occasion(alert, Occasion(transaction_id, event_time)),
        )


def _side(alert: Mapping[str, Any]) -> str | None:
    """The side of an alert of a party's rule; None of any other."""
    return None if alert.get(SIDE) is None else _member(alert, SIDE, str)


def _group(group: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    for name, value in group.items():
        if not isinstance(value, str):
            raise UnreadableClaim(f"group.{name}: expected str, found {type(value).__name__}")
    return tuple(sorted(group.items()))


def _occasion(alert: Mapping[str, Any], of_itself: Occasion) -> Occasion | None:
    if not alert.get("partial"):
        return of_itself
    late = alert.get("late")
    if isinstance(late, dict) and "transactionId" in late:
        return Occasion(_member(late, "transactionId", str), _member(late, "eventTime", int))
    return None


def _member(data: Mapping[str, Any], name: str, kind: type[Any]) -> Any:
    value = data.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise UnreadableClaim(f"{name}: expected {kind.__name__}, found {type(value).__name__}")
    return value
