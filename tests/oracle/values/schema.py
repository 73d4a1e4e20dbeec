"""The fields of payments, which random histories are made of, and bounds of all event types (semantics 1)."""

from __future__ import annotations

from tests.oracle.values.event_types import PAYMENTS

EVENT_TIME = PAYMENTS.time
AMOUNT = PAYMENTS.amount
INGESTION = PAYMENTS.ingestion

GROUPABLE = PAYMENTS.groupable

LAST_TIME = 253_402_300_799_999
LONGEST_TEXT = 64
PAYMENT_TYPES = PAYMENTS.enums["paymentType"]

GLOBAL = ""


def anchor_of(grouping: tuple[str, ...], anchors: tuple[str, ...]) -> str:
    """The first anchor in the grouping, parties coming before all others; GLOBAL if it has none."""
    for anchor in anchors:
        if anchor in grouping:
            return anchor
    return GLOBAL
