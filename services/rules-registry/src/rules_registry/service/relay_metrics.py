"""The relay's metrics, each name once."""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge


@dataclass(frozen=True, slots=True)
class RelayMetrics:
    """What the relay counts."""

    active: Gauge
    position: Gauge
    delivered: Counter
    failures: Counter


def relay_metrics(registry: CollectorRegistry) -> RelayMetrics:
    """Registers them."""
    return RelayMetrics(
        active=Gauge("tripline_relay_active", "1 where this relay holds the lock", registry=registry),
        position=Gauge("tripline_relay_position", "Position delivered and recorded", registry=registry),
        delivered=Counter("tripline_relay_delivered_total", "Events that Kafka confirmed", registry=registry),
        failures=Counter(
            "tripline_relay_failures_total", "Sessions that ended in an error", ["error"], registry=registry
        ),
    )
