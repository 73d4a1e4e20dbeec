"""Every metric of the engine, declared once."""

from __future__ import annotations

from typing import Final

from tripline_engine.metric_name import MetricName

BATCH_SECONDS: Final = MetricName(
    "tripline_engine_batch_seconds", "Duration of a micro-batch, planning to commit", "histogram"
)
STAGE_SECONDS: Final = MetricName(
    "tripline_engine_batch_stage_seconds",
    "Time spent in the stages of micro-batches, by Spark's names for them",
    "counter",
    ("stage",),
)
ROWS: Final = MetricName(
    "tripline_engine_rows", "Records read from Kafka, rule events and ticks included", "counter", ("source",)
)
UNREAD: Final = MetricName(
    "tripline_engine_lag_records",
    "Transactions in Kafka that no committed micro-batch holds",
    "gauge",
    ("partition",),
)
ALERTS: Final = MetricName("tripline_engine_alerts", "Alerts written", "counter")
REJECTS: Final = MetricName("tripline_engine_rejects", "Transactions rejected", "counter", ("reason",))
LATENCY: Final = MetricName(
    "tripline_engine_detection_latency_seconds", "Ingestion to detection, of alerts", "histogram"
)
REBUILDS: Final = MetricName(
    "tripline_engine_rebuilds", "Times a shard's arrays were built again from its segments", "counter"
)
REBUILD_SECONDS: Final = MetricName(
    "tripline_engine_rebuild_seconds", "Time that building shards' arrays again took", "counter"
)
SHRINKS: Final = MetricName(
    "tripline_engine_shrinks", "Times a shard's arrays were made smaller after clean-up", "counter"
)
PRIVATE_COPIES: Final = MetricName(
    "tripline_engine_private_copies", "Times another attempt held a shard's arrays", "counter"
)
DUPLICATES: Final = MetricName(
    "tripline_engine_duplicates", "Transactions that were on an anchor already", "counter"
)
JUDGED: Final = MetricName(
    "tripline_engine_transactions", "Transactions that reached a shard, once per shard", "counter"
)
BACKFILLED: Final = MetricName(
    "tripline_engine_backfilled", "Transactions that backfills have brought, once per anchor", "counter"
)
NULL_GROUPS: Final = MetricName(
    "tripline_engine_null_groups", "Evaluations left out because a group value is null", "counter"
)
UNREADABLE_RULE_EVENTS: Final = MetricName(
    "tripline_engine_unreadable_rule_events", "Rule events skipped, once per shard", "counter"
)
UNREADABLE_TICKS: Final = MetricName(
    "tripline_engine_unreadable_ticks", "Ticks skipped, once per shard", "counter"
)
TRACE_RECORDS: Final = MetricName(
    "tripline_engine_trace_records", "Evaluations of traced rules that were written", "counter"
)
TRACE_RECORDS_OMITTED: Final = MetricName(
    "tripline_engine_trace_records_omitted",
    "Evaluations of traced rules beyond what a shard writes of one micro-batch",
    "counter",
)
HISTORY_ROWS: Final = MetricName("tripline_engine_history_rows", "Transactions held", "gauge", ("shard",))
HISTORY_BYTES: Final = MetricName(
    "tripline_engine_history_bytes",
    "Bytes of the arrays that hold them, but for what has been given back",
    "gauge",
    ("shard",),
)
RULE_POSITION: Final = MetricName(
    "tripline_engine_rule_position", "Position of the last rule event applied", "gauge", ("shard",)
)
ACTIVE_RULES: Final = MetricName(
    "tripline_engine_active_rules", "Rules that are neither paused nor deleted", "gauge", ("shard",)
)
TAKES_TRANSACTIONS: Final = MetricName(
    "tripline_engine_takes_transactions", "1, or 0 while history is at its limit", "gauge"
)
LIVE_HEAP: Final = MetricName(
    "tripline_engine_live_heap_bytes",
    "What the last whole collection of the driver's heap has left in its old part; 0 before the first",
    "gauge",
)
CLOCK: Final = MetricName(
    "tripline_engine_record_clock_seconds", "The last tick sent, since the epoch; absent before it", "gauge"
)

PRUNED_COLUMNS: Final = MetricName(
    "tripline_engine_pruned_columns", "Fields that runs of the state log have given up", "counter"
)

COUNTED_BY_SHARDS: Final = {
    "alerts": ALERTS,
    "rebuilds": REBUILDS,
    "private_copies": PRIVATE_COPIES,
    "shrinks": SHRINKS,
    "pruned_columns": PRUNED_COLUMNS,
    "duplicates": DUPLICATES,
    "transactions": JUDGED,
    "backfilled": BACKFILLED,
    "null_groups": NULL_GROUPS,
    "unreadable_rule_events": UNREADABLE_RULE_EVENTS,
    "unreadable_ticks": UNREADABLE_TICKS,
    "trace_records": TRACE_RECORDS,
    "trace_records_omitted": TRACE_RECORDS_OMITTED,
}
"""A shard's counters by their names there; each micro-batch adds to the metric."""

COUNTED_BY_RULE: Final = {
    f"rule_{name}": MetricName(f"tripline_engine_rule_{name}", text, "counter", ("rule",))
    for name, text in {
        "evaluations": "Transactions that a rule has evaluated",
        "equal_times": "Evaluations of a transaction whose event time an earlier one of its group has too",
        "late_evaluated": "Evaluations of late transactions",
        "reevaluated": "Transactions judged again because a late one came into their window",
        "late_stored": "Late transactions that count but are not evaluated, by the rule's policy",
        "null_groups": "Transactions left out by a rule because a field of its grouping is null",
        "duplicates": "Duplicates that a rule would have evaluated",
        "backfilled": "Transactions that backfills have brought into the windows of a rule",
    }.items()
}
"""A shard's counters of single rules; each micro-batch adds to the metric."""

MEASURED_BY_SHARDS: Final = {
    "history_rows": HISTORY_ROWS,
    "history_bytes": HISTORY_BYTES,
    "rule_position": RULE_POSITION,
    "active_rules": ACTIVE_RULES,
}
"""A shard's gauges; each micro-batch replaces the value."""
