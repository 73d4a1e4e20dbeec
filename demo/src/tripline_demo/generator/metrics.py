"""The generator's metrics: every name once, values read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from tripline_demo.generator.output.sender import Sender

RECORDS: Final = "tripline_generator_records"
FAILED: Final = "tripline_generator_records_failed"
WANTED_RATE: Final = "tripline_generator_wanted_rate"
ACHIEVED_RATE: Final = "tripline_generator_achieved_rate"


class TrafficCollector(Collector):
    """The sender's counts so far."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def collect(self) -> Iterator[Metric]:
        """Records by kind, failures, and the two rates per second."""
        counters = self._sender.counters()
        records = CounterMetricFamily(RECORDS, "Records handed to Kafka", labels=["kind"])
        odd = {"late": counters.late, "duplicate": counters.duplicate, "broken": counters.broken}
        records.add_metric(["plain"], counters.sent - sum(odd.values()))
        for kind, count in odd.items():
            records.add_metric([kind], count)
        yield records
        yield CounterMetricFamily(FAILED, "Records that Kafka refused or that timed out", counters.failed)
        yield GaugeMetricFamily(WANTED_RATE, "Transactions a second asked for", self._sender.traffic.rate)
        yield GaugeMetricFamily(
            ACHIEVED_RATE, "Transactions a second over the last five", counters.achieved_rate
        )
