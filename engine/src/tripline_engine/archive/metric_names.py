"""Every metric of the archiver, declared once."""

from __future__ import annotations

from typing import Final

from tripline_engine.metric_name import MetricName

RECORDS: Final = MetricName("tripline_archiver_records", "Records written", "counter", ("topic",))
FILES: Final = MetricName(
    "tripline_archiver_files", "Files written, merged ones included", "counter", ("topic",)
)
BYTES: Final = MetricName(
    "tripline_archiver_bytes", "Bytes of these files, compressed as they are", "counter", ("topic",)
)
MISSING: Final = MetricName(
    "tripline_archiver_missing_records",
    "Records that the topic had deleted before they were read: they are in no file",
    "counter",
    ("topic",),
)
WAITING: Final = MetricName(
    "tripline_archiver_waiting_records",
    "Records read that are in no file yet",
    "gauge",
    ("topic", "partition"),
)
UNWRITTEN: Final = MetricName(
    "tripline_archiver_lag_records",
    "Records in Kafka that are in no file yet",
    "gauge",
    ("topic", "partition"),
)
