"""Every metric of the archiver, declared once."""

from __future__ import annotations

from typing import Final

from tripline_engine.metric_name import MetricName

RECORDS: Final = MetricName("tripline_archiver_records", "Records written", "counter", ("topic",))
FILES: Final = MetricName(
    "tripline_archiver_files", "Files written, merged ones included", "counter", ("topic",)
)
BYTES: Final = MetricName(
    "tripline_archiver_bytes", "Compressed bytes of the files written", "counter", ("topic",)
)
MISSING: Final = MetricName(
    "tripline_archiver_missing_records",
    "Records lost: deleted by Kafka's retention before they were archived",
    "counter",
    ("topic",),
)
WAITING: Final = MetricName(
    "tripline_archiver_waiting_records",
    "Records in the archiver's buffer",
    "gauge",
    ("topic", "partition"),
)
UNWRITTEN: Final = MetricName(
    "tripline_archiver_lag_records",
    "Consumer lag: records in Kafka beyond the archive's files",
    "gauge",
    ("topic", "partition"),
)
