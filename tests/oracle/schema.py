"""The event type that ships: its fields and anchors (semantics 1)."""

from __future__ import annotations

EVENT_TIME = "eventTime"
AMOUNT = "paymentAmount"

GROUPABLE = ("beneficiaryId", "payeeId", "paymentAmount", "paymentType")
USABLE = (EVENT_TIME, *GROUPABLE)

DEFAULT_ANCHORS = ("payeeId", "beneficiaryId")
GLOBAL = ""


def anchor_of(grouping: tuple[str, ...], anchors: tuple[str, ...]) -> str:
    """The first anchor in the grouping; GLOBAL if it has none."""
    for anchor in anchors:
        if anchor in grouping:
            return anchor
    return GLOBAL
