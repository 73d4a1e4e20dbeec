"""Tolerances of time: the four settings that rule events can change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_MAX_SECONDS: Final = 400 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Bounds on how late, early and out of order a transaction may be, in whole seconds (semantics, section 5)."""

    allowed_lateness_seconds: int = 600
    max_future_skew_seconds: int = 300
    max_disorder_seconds: int = 300
    idle_partition_seconds: int = 30

    @property
    def allowed_lateness_ms(self) -> int:
        """The bound on an event time behind its own record time."""
        return self.allowed_lateness_seconds * 1000

    @property
    def max_future_skew_ms(self) -> int:
        """The bound on an event time ahead of its own record time."""
        return self.max_future_skew_seconds * 1000

    @property
    def max_disorder_ms(self) -> int:
        """The bound on a record time behind the record clock."""
        return self.max_disorder_seconds * 1000

    @property
    def duplicate_reach_ms(self) -> int:
        """The deduplication window: an equal id with a record time at most so far away makes a duplicate."""
        return self.allowed_lateness_ms + self.max_future_skew_ms

    def to_json(self) -> dict[str, int]:
        """The settings of a SettingsChanged event."""
        return {
            "allowedLatenessSeconds": self.allowed_lateness_seconds,
            "maxFutureSkewSeconds": self.max_future_skew_seconds,
            "maxDisorderSeconds": self.max_disorder_seconds,
            "idlePartitionSeconds": self.idle_partition_seconds,
        }

    @staticmethod
    def of(data: Mapping[str, Any]) -> Tolerances:
        """The tolerances of an event's ``settings``; ValueError or KeyError unless all are there, in whole seconds."""
        return Tolerances(
            _seconds(data, "allowedLatenessSeconds"),
            _seconds(data, "maxFutureSkewSeconds"),
            _seconds(data, "maxDisorderSeconds"),
            _seconds(data, "idlePartitionSeconds"),
        )


def _seconds(data: Mapping[str, Any], name: str) -> int:
    value = data[name]
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_SECONDS:
        raise ValueError(f"{name} must be an integer from 0 to {_MAX_SECONDS}")
    return value
