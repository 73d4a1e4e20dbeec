"""The registry of trades: the traffic for an event type is found by the type's name."""

from __future__ import annotations

from tripline_contracts.event_type import EventType
from tripline_demo.generator.activities.trade import ACTIVITIES
from tripline_demo.generator.authorisations.trade import AUTHORISATIONS
from tripline_demo.generator.payments.trade import PAYMENTS
from tripline_demo.generator.trade import Trade

_ALL = {trade.event_type.name: trade for trade in (PAYMENTS, AUTHORISATIONS, ACTIVITIES)}


def trade_of(event_type: EventType) -> Trade:
    """The type's own; of one that was declared elsewhere one without a stream."""
    return _ALL.get(event_type.name) or Trade(event_type)
