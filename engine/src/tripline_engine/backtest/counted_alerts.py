"""Alerts that are counted alone: of each its rule, its group, and its transaction's id and time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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
        told = alert.alert
        return self._alert(
            told["ruleId"], told["group"], told["transaction"][self.id_field], alert.event_time
        )

    def packed(self, alerts: Iterable[SpanAlert]) -> bytes:
        """Alerts that are counted alone, for `unpacked`."""
        return msgspec.json.encode(
            [
                _Counted(
                    one.alert["ruleId"],
                    one.alert["group"],
                    one.alert["transaction"][self.id_field],
                    one.event_time,
                )
                for one in alerts
            ]
        )

    def unpacked(self, data: bytes) -> Iterator[SpanAlert]:
        """What was packed, made less."""
        for one in msgspec.json.decode(data, type=list[_Counted]):
            yield self._alert(one.rule_id, one.group, one.transaction_id, one.event_time)

    def _alert(
        self, rule_id: int, group: Mapping[str, Any], transaction_id: str, event_time: int
    ) -> SpanAlert:
        transaction = {self.id_field: transaction_id, self.time_field: event_time}
        return SpanAlert("", event_time, b"", {"ruleId": rule_id, "group": group, "transaction": transaction})
