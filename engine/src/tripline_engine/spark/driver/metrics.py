"""The driver's Prometheus metrics, from the reports of micro-batches and of the ticker."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from threading import Lock
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.metrics_core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from tripline_engine.metric_name import MetricName
from tripline_engine.spark.driver import metric_names as names
from tripline_engine.spark.rows.output_counters import LATENCY_BOUNDS_MS

_BATCH_BOUNDS: Final = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 10, 30)


class LatencyCollector(Collector):
    """A histogram merged from whole buckets: workers count, the driver adds."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts = dict.fromkeys([*map(str, LATENCY_BOUNDS_MS), "inf"], 0)
        self._sum_ms = 0

    def add(self, bound: str, count: int) -> None:
        with self._lock:
            self._counts[bound] += count

    def add_sum(self, milliseconds: int) -> None:
        with self._lock:
            self._sum_ms += milliseconds

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            counts, sum_seconds = dict(self._counts), self._sum_ms / 1000
        buckets: list[tuple[str, float]] = []
        total = 0
        for bound, count in counts.items():
            total += count
            buckets.append(("+Inf" if bound == "inf" else str(int(bound) / 1000), total))
        yield HistogramMetricFamily(
            names.LATENCY.name, names.LATENCY.help, buckets=buckets, sum_value=sum_seconds
        )


class Metrics:
    """All metrics of one engine process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._batch = Histogram(
            names.BATCH_SECONDS.name, names.BATCH_SECONDS.help, buckets=_BATCH_BOUNDS, registry=self.registry
        )
        self._stages = self._counter(names.STAGE_SECONDS)
        self._rows = self._counter(names.ROWS)
        self._rejects = self._counter(names.REJECTS)
        self._rebuild_seconds = self._counter(names.REBUILD_SECONDS)
        self._unread = self._gauge(names.UNREAD)
        self._clock = self._gauge(names.CLOCK)
        self._intake = self._gauge(names.TAKES_TRANSACTIONS)
        self._live_heap = self._gauge(names.LIVE_HEAP)
        self._counters = {key: self._counter(name) for key, name in names.COUNTED_BY_SHARDS.items()}
        self._gauges = {key: self._gauge(name) for key, name in names.MEASURED_BY_SHARDS.items()}
        self._rule_counters = {key: self._counter(name) for key, name in names.COUNTED_BY_RULE.items()}
        self._latency = LatencyCollector()
        self.registry.register(self._latency)

    def batch_committed(
        self, seconds: float, rows: Mapping[str, int], shards: Iterable[tuple[int, str]]
    ) -> None:
        """One committed micro-batch: rows by source, and of each shard its number and its counters as JSON."""
        self._batch.observe(seconds)
        for source, count in rows.items():
            self._rows.labels(source).inc(count)
        for shard, counters in shards:
            for key, value in json.loads(counters).items():
                self._add_counter(shard, key, value)

    def record_stages(self, milliseconds: Mapping[str, int]) -> None:
        """One micro-batch's time by stage."""
        for stage, value in milliseconds.items():
            self._stages.labels(stage).inc(value / 1000)

    def record_tick(self, unread: Mapping[int, int], clock: int | None) -> None:
        """The ticker's measurements: unread records by partition, the last tick in ms."""
        for partition, count in unread.items():
            self._unread.labels(str(partition)).set(count)
        if clock is not None:
            self._clock.set(clock / 1000)

    def record_intake(self, *, is_open: bool) -> None:
        """Whether the query reads transactions; it does not while history is at its limit."""
        self._intake.set(is_open)

    def record_live_heap(self, size: int) -> None:
        """Bytes in the driver's old generation after its last full collection."""
        self._live_heap.set(size)

    def _add_counter(self, shard: int, key: str, value: int) -> None:
        name, _, label = key.partition(":")
        if name in self._counters:
            self._counters[name].inc(value)
        elif name in self._gauges:
            self._gauges[name].labels(str(shard)).set(value)
        elif name in self._rule_counters:
            self._rule_counters[name].labels(label).inc(value)
        elif name == "rejects":
            self._rejects.labels(label).inc(value)
        elif name == "rebuild_ms":
            self._rebuild_seconds.inc(value / 1000)
        elif name == "latency_ms":
            self._latency.add(label, value)
        elif name == "latency_ms_sum":
            self._latency.add_sum(value)

    def _counter(self, name: MetricName) -> Counter:
        return Counter(name.name, name.help, name.labels, registry=self.registry)

    def _gauge(self, name: MetricName) -> Gauge:
        return Gauge(name.name, name.help, name.labels, registry=self.registry)


def shard_counters(observed: Mapping[str, Any]) -> list[tuple[int, str]]:
    """(shard, counters) from the columns `shard<n>` of a micro-batch's observed metrics."""
    return [(int(key.removeprefix("shard")), text) for key, text in observed.items() if text is not None]
