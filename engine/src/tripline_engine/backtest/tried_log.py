"""rules.v1 as it would read had the tried rules been there from the beginning, and no others.

Lists, parameters, tolerances, voided transactions and backfills stay where they are in the order: a backtest sees each
of them when the engine saw it, and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

import msgspec

from tripline_contracts.control_commands import VoidTransaction, read_command
from tripline_contracts.event_type import EventType
from tripline_engine.backtest.tried_rules import TriedRule
from tripline_engine.certificate.span import Span
from tripline_engine.domain.rules.event_decoder import decode, position_of
from tripline_engine.domain.rules.named_value_events import NAMED_EVENTS
from tripline_engine.domain.rules.rule_book import RuleBook
from tripline_engine.domain.rules.rule_events import RuleEventGap, UnreadableRuleEvent
from tripline_engine.domain.rules.tolerances import Tolerances
from tripline_engine.kafka_log.record import Record

Event = dict[str, Any]
_VOID: Final = "VOID_TRANSACTION"
_KEPT_COMMANDS: Final = frozenset({_VOID, "START_BACKFILL", "END_BACKFILL", "CLEAR_STATE_ALL"})


class TriedLog:
    """Turns the rule events of one micro-batch after the other into those of the backtest.

    An event is taken where the engine took it: of what it refused nothing is left.

    :param is_kept: which of them stay
    :ivar voids: ids and event times (ms) of what commands have made void so far
    """

    def __init__(
        self,
        rules: Sequence[TriedRule],
        span: Span,
        event_type: EventType,
        is_kept: Callable[[Event], bool],
    ) -> None:
        self._is_kept = is_kept
        self.voids: set[tuple[str, int]] = set()
        self._book, self._position = RuleBook(event_type), 0
        self._first = [self._published(rule, span) for rule in rules]

    @property
    def tolerances(self) -> Tolerances:
        """What holds after the events so far."""
        return self._book.settings

    def of(self, records: Iterable[Record]) -> list[Record]:
        """The events of a micro-batch, numbered anew; of the first one with the tried rules before them."""
        events, self._first = self._first, []
        for record in sorted(records, key=_position):
            if not self._is_taken(record.value or b""):
                continue
            event = decode(record.value or b"")
            self._take_void(event)
            if self._is_kept(event):
                events.append(replace(record, value=self._numbered(event)))
        return events

    def _is_taken(self, data: bytes) -> bool:
        before = self._book.position
        with suppress(UnreadableRuleEvent, RuleEventGap):
            self._book.apply(data)
        return self._book.position > before

    def _take_void(self, event: Event) -> None:
        if event["type"] == "ControlCommand" and event.get("command") == _VOID:
            command = read_command(event)
            if isinstance(command, VoidTransaction):
                self.voids.add((command.transaction_id, command.event_time))

    def _published(self, rule: TriedRule, span: Span) -> Record:
        event = {
            "eventId": f"tried-{rule.rule_id}",
            "type": "RulePublished",
            "occurredAt": span.first,
            "actor": "backtest",
            "ruleId": rule.rule_id,
            "version": 1,
            "state": "ACTIVE",
            "name": rule.name,
            "definition": rule.definition.to_json(),
            "definitionHash": rule.definition.hash,
            "effectiveFrom": span.first,
            "effectiveUntil": span.until,
        }
        return Record(0, 0, -1, None, self._numbered(event), ())

    def _numbered(self, event: Event) -> bytes:
        self._position += 1
        return msgspec.json.encode({**event, "position": self._position})


def _position(record: Record) -> int:
    """In whose order a micro-batch's events are applied; of those without one none is."""
    position = position_of(record.value or b"")
    return -1 if position is None else position


def is_named_value(event: Event) -> bool:
    """Whether it changes a list or a parameter."""
    return event["type"] in NAMED_EVENTS


def is_no_command(event: Event) -> bool:
    """Whether it changes a list, a parameter or the tolerances."""
    return event["type"] == "SettingsChanged" or is_named_value(event)


def _is_kept_command(event: Event) -> bool:
    return event["type"] == "ControlCommand" and event.get("command") in _KEPT_COMMANDS


def as_it_was(event: Event) -> bool:
    """Whether it counts, in a backtest, where it counted then."""
    return is_no_command(event) or _is_kept_command(event)
