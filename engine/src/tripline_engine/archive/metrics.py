"""The archiver's metrics, in the shape Prometheus reads."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

from tripline_engine.archive import metric_names as names
from tripline_engine.metric_name import MetricName


class Metrics:
    """All metrics of one archiver."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._records = self._counter(names.RECORDS)
        self._files = self._counter(names.FILES)
        self._bytes = self._counter(names.BYTES)
        self._missing = self._counter(names.MISSING)
        self._waiting = self._gauge(names.WAITING)
        self._unwritten = self._gauge(names.UNWRITTEN)

    def wrote(self, topic: str, records: int, size: int) -> None:
        """A written file: its new records (0 for a merged one) and its bytes."""
        self._records.labels(topic).inc(records)
        self._files.labels(topic).inc()
        self._bytes.labels(topic).inc(size)

    def missed(self, topic: str, records: int) -> None:
        """Records deleted by Kafka before they were archived."""
        self._missing.labels(topic).inc(records)

    def unwritten(self, topic: str, partition: int, in_kafka: int, read: int) -> None:
        """Records of a partition beyond its files: in Kafka, and of these in the buffer."""
        self._unwritten.labels(topic, str(partition)).set(in_kafka)
        self._waiting.labels(topic, str(partition)).set(read)

    def _counter(self, name: MetricName) -> Counter:
        return Counter(name.name, name.help, name.labels, registry=self.registry)

    def _gauge(self, name: MetricName) -> Gauge:
        return Gauge(name.name, name.help, name.labels, registry=self.registry)
