"""A range of consecutive Kafka offsets."""

from __future__ import annotations

from typing import NamedTuple


class OffsetRange(NamedTuple):
    """Consecutive offsets; `until` is exclusive."""

    first: int
    until: int
