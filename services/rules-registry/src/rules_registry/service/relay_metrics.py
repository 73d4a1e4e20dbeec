"""The relay's metrics, each name once."""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge


@dataclass(frozen=True, slots=True)
class RelayMetrics:
    """The relay's metrics."""

    active: Gauge
    position: Gauge
    delivered: Counter
    failures: Counter


def relay_metrics(registry: CollectorRegistry) -> RelayMetrics:
    """Registers them."""
    return RelayMetrics(
        active=Gauge("tripline_relay_active", "1 where this relay holds the lock, else 0", registry=registry),
        position=Gauge(
            "tripline_relay_position",
            "Cursor: position of the last event that is delivered and recorded",
            registry=registry,
        ),
        delivered=Counter(
            "tripline_relay_delivered_total", "Events that Kafka acknowledged", registry=registry
        ),
        failures=Counter(
            "tripline_relay_failures_total", "Sessions that ended in an error", ["error"], registry=registry
        ),
    )
