"""The event type that ships: its fields and anchors (semantics 1)."""

from __future__ import annotations

EVENT_TIME = "eventTime"
AMOUNT = "paymentAmount"
INGESTION = "ingestionTimestamp"

GROUPABLE = ("beneficiaryId", "payeeId", "paymentAmount", "paymentType")
USABLE = (EVENT_TIME, *GROUPABLE, INGESTION)

LAST_TIME = 253_402_300_799_999
LONGEST_TEXT = 64
PAYMENT_TYPES = ("CSH", "CRD")

DEFAULT_ANCHORS = ("payeeId", "beneficiaryId")
GLOBAL = ""


def anchor_of(grouping: tuple[str, ...], anchors: tuple[str, ...]) -> str:
    """The first anchor in the grouping; GLOBAL if it has none."""
    for anchor in anchors:
        if anchor in grouping:
            return anchor
    return GLOBAL
