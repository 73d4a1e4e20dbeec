"""Alerts that are counted alone: of each its rule, its group, and its transaction's id and time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from tripline_contracts.event_type import EventType
from tripline_engine.certificate.span_alert import SpanAlert
from tripline_engine.domain.judging.anchor_tuning import Telling


class _Counted(msgspec.Struct, frozen=True, array_like=True):
    rule_id: int
    group: dict[str, Any]
    transaction_id: str
    event_time: int


@dataclass(frozen=True, slots=True)
class CountedAlerts:
    """Makes less of the alerts of these rules; those of others stay what they are."""

    rule_ids: frozenset[int]
    id_field: str
    time_field: str

    @staticmethod
    def told(telling: Telling, event_type: EventType) -> CountedAlerts:
        """Of the rules that are counted where so much is told."""
        return CountedAlerts(telling.counted, event_type.id_field.name, event_type.time_field.name)

    def has(self, alert: SpanAlert) -> bool:
        """Whether the alert is counted alone."""
        return bool(self.rule_ids) and alert.alert["ruleId"] in self.rule_ids

    def less(self, alert: SpanAlert) -> SpanAlert:
        """What there is of the alert where it is counted alone, with an empty id."""
        return self._alert(self._of(alert))

    def packed(self, alerts: Iterable[SpanAlert]) -> bytes:
        """Alerts that are counted alone, for `unpacked`."""
        return msgspec.json.encode([self._of(one) for one in alerts])

    def unpacked(self, data: bytes) -> Iterator[SpanAlert]:
        """What was packed, made less."""
        yield from map(self._alert, msgspec.json.decode(data, type=list[_Counted]))

    def _of(self, alert: SpanAlert) -> _Counted:
        told = alert.alert
        transaction_id = told["transaction"][self.id_field]
        return _Counted(told["ruleId"], told["group"], transaction_id, alert.event_time)

    def _alert(self, one: _Counted) -> SpanAlert:
        transaction = {self.id_field: one.transaction_id, self.time_field: one.event_time}
        told = {"ruleId": one.rule_id, "group": one.group, "transaction": transaction}
        return SpanAlert("", one.event_time, b"", told)
