"""Alerts that are counted alone: of each its rule, its group, and its transaction's id and time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from tripline_contracts.event_type import EventType
from tripline_engine.certificate.span import Span
from tripline_engine.certificate.span_alert import AlertReader, SpanAlert
from tripline_engine.domain.firing.occasion import Occasion
from tripline_engine.domain.judging.anchor_tuning import Telling
from tripline_engine.domain.shard.ports import OCCASIONS, OutRecord
from tripline_engine.topic_names import ALERTS


@dataclass(frozen=True, slots=True)
class Given:
    """The alerts of a span among records: those that are told whole, or an occasion for those that are counted."""

    rule_ids: frozenset[int]
    event_type: EventType
    span: Span
    reader: AlertReader

    @staticmethod
    def in_span(span: Span, telling: Telling, event_type: EventType) -> Given:
        """Of rules that are counted where so much is told."""
        return Given(telling.counted, event_type, span, AlertReader(event_type, span, is_compared=False))

    def read(self, record: OutRecord) -> SpanAlert | Occasion | None:
        """What the record tells; None where it is of neither, or out of the span."""
        if record.topic == OCCASIONS:
            occasion = msgspec.json.decode(record.value, type=Occasion)
            return occasion if occasion.event_time in self.span else None
        alert = self.reader.read(record.value) if record.topic == ALERTS else None
        # of a counted rule engines tell whole alerts, too: of what they judge again
        is_counted = alert is not None and alert.alert["ruleId"] in self.rule_ids
        return self._occasion(alert) if alert is not None and is_counted else alert

    def _occasion(self, alert: SpanAlert) -> Occasion:
        told = alert.alert
        transaction_id = told["transaction"][self.event_type.id_field.name]
        return Occasion(told["group"], transaction_id, alert.event_time, (told["ruleId"],))


def packed(occasions: Iterable[Occasion]) -> bytes:
    """Occasions for `unpacked`."""
    return msgspec.json.encode(list(occasions))


def unpacked(data: bytes) -> list[Occasion]:
    """What was packed."""
    return msgspec.json.decode(data, type=list[Occasion])


def counted_alerts(occasion: Occasion, event_type: EventType) -> Iterator[SpanAlert]:
    """An alert for each rule, with what there is of it, and an empty id. All share the group and the transaction."""
    time = occasion.event_time
    transaction = {event_type.id_field.name: occasion.transaction_id, event_type.time_field.name: time}
    for rule_id in occasion.rule_ids:
        told = {"ruleId": rule_id, "group": occasion.group, "transaction": transaction}
        yield SpanAlert("", time, b"", told)
