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
    "Consumer lag: transactions in Kafka beyond the last committed micro-batch",
    "gauge",
    ("partition",),
)
ALERTS: Final = MetricName("tripline_engine_alerts", "Alerts written", "counter")
SHADOW_ALERTS: Final = MetricName(
    "tripline_engine_shadow_alerts", "Alerts written to the shadows' topic", "counter"
)
REJECTS: Final = MetricName("tripline_engine_rejects", "Transactions rejected", "counter", ("reason",))
LATENCY: Final = MetricName(
    "tripline_engine_detection_latency_seconds", "Ingestion to detection, of alerts", "histogram"
)
REBUILDS: Final = MetricName(
    "tripline_engine_rebuilds", "Rebuilds of a shard's arrays from its state log", "counter"
)
REBUILD_SECONDS: Final = MetricName(
    "tripline_engine_rebuild_seconds", "Time spent on rebuilds of shards' arrays", "counter"
)
SHRINKS: Final = MetricName(
    "tripline_engine_shrinks", "Shrinks of a shard's arrays after compaction", "counter"
)
PRIVATE_COPIES: Final = MetricName(
    "tripline_engine_private_copies",
    "Tasks on private copies of a shard's arrays, because another attempt held their lock",
    "counter",
)
DUPLICATES: Final = MetricName(
    "tripline_engine_duplicates", "Transactions dropped by deduplication, once per anchor", "counter"
)
JUDGED: Final = MetricName(
    "tripline_engine_transactions", "Transactions that reached a shard, once per shard", "counter"
)
BACKFILLED: Final = MetricName(
    "tripline_engine_backfilled", "Transactions ingested by backfills, once per anchor", "counter"
)
NULL_GROUPS: Final = MetricName(
    "tripline_engine_null_groups", "Evaluations skipped because a grouping field is null", "counter"
)
UNREADABLE_RULE_EVENTS: Final = MetricName(
    "tripline_engine_unreadable_rule_events", "Rule events that cannot be read, once per shard", "counter"
)
RULE_EVENT_GAPS: Final = MetricName(
    "tripline_engine_rule_event_gaps",
    "Rule events refused because their position is not the next one, once per shard",
    "counter",
)
UNREADABLE_TICKS: Final = MetricName(
    "tripline_engine_unreadable_ticks", "Ticks skipped, once per shard", "counter"
)
REFUSED_TICKS: Final = MetricName(
    "tripline_engine_refused_ticks", "Ticks ahead of the broker's time, refused, once per shard", "counter"
)
TRACE_RECORDS: Final = MetricName("tripline_engine_trace_records", "Trace records written", "counter")
TRACE_RECORDS_OMITTED: Final = MetricName(
    "tripline_engine_trace_records_omitted",
    "Trace records dropped: above the limit of a shard and micro-batch",
    "counter",
)
HISTORY_ROWS: Final = MetricName("tripline_engine_history_rows", "Transactions retained", "gauge", ("shard",))
HISTORY_BYTES: Final = MetricName(
    "tripline_engine_history_bytes",
    "Bytes of history's arrays, less the pages released to the system",
    "gauge",
    ("shard",),
)
RULE_POSITION: Final = MetricName(
    "tripline_engine_rule_position", "Position of the last rule event applied", "gauge", ("shard",)
)
RULE_WAITING: Final = MetricName(
    "tripline_engine_rule_waiting",
    "1 while a rule event was refused and the next position is waited for",
    "gauge",
    ("shard",),
)
ACTIVE_RULES: Final = MetricName(
    "tripline_engine_active_rules", "Rules that are neither paused nor deleted", "gauge", ("shard",)
)
SHADOWS: Final = MetricName(
    "tripline_engine_shadows", "Shadows of rules that are neither paused nor deleted", "gauge", ("shard",)
)
TAKES_TRANSACTIONS: Final = MetricName(
    "tripline_engine_takes_transactions", "1, or 0 while history is at its limit", "gauge"
)
LIVE_HEAP: Final = MetricName(
    "tripline_engine_live_heap_bytes",
    "Bytes in the driver's old generation after its last full collection; 0 before the first",
    "gauge",
)
CLOCK: Final = MetricName(
    "tripline_engine_record_clock_seconds", "The last tick sent, since the epoch; absent before it", "gauge"
)

PRUNED_COLUMNS: Final = MetricName(
    "tripline_engine_pruned_columns", "Columns pruned from runs of the state log", "counter"
)

COUNTED_BY_SHARDS: Final = {
    "alerts": ALERTS,
    "shadow_alerts": SHADOW_ALERTS,
    "rebuilds": REBUILDS,
    "private_copies": PRIVATE_COPIES,
    "shrinks": SHRINKS,
    "pruned_columns": PRUNED_COLUMNS,
    "duplicates": DUPLICATES,
    "transactions": JUDGED,
    "backfilled": BACKFILLED,
    "null_groups": NULL_GROUPS,
    "unreadable_rule_events": UNREADABLE_RULE_EVENTS,
    "rule_event_gaps": RULE_EVENT_GAPS,
    "unreadable_ticks": UNREADABLE_TICKS,
    "refused_ticks": REFUSED_TICKS,
    "trace_records": TRACE_RECORDS,
    "trace_records_omitted": TRACE_RECORDS_OMITTED,
}
"""Metrics by a shard counter's name; each micro-batch adds to the metric."""

COUNTED_BY_RULE: Final = {
    f"rule_{name}": MetricName(f"tripline_engine_rule_{name}", text, "counter", ("rule",))
    for name, text in {
        "evaluations": "Evaluations of transactions by a rule",
        "equal_times": "Evaluations of a transaction with the event time of an earlier one of its group",
        "late_evaluated": "Evaluations of late transactions",
        "reevaluated": "Transactions evaluated again because a late one entered their window",
        "late_stored": "Late transactions in a rule's windows without an evaluation, by the rule's policy",
        "null_groups": "Transactions skipped by a rule because a grouping field is null",
        "duplicates": "Duplicates that a rule would have evaluated",
        "backfilled": "Transactions ingested into a rule's windows by backfills",
        "backfilled_unseen": "Of those, ones that a bucketed rule does not see: its buckets begin later",
    }.items()
}
"""Metrics by a shard's counters of single rules; each micro-batch adds to the metric."""

MEASURED_BY_SHARDS: Final = {
    "history_rows": HISTORY_ROWS,
    "history_bytes": HISTORY_BYTES,
    "rule_position": RULE_POSITION,
    "rule_waiting": RULE_WAITING,
    "active_rules": ACTIVE_RULES,
    "shadows": SHADOWS,
}
"""A shard's gauges; each micro-batch replaces the value."""
