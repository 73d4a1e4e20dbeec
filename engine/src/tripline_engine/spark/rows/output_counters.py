"""Counters of a shard's output: alerts, rejects by reason, detection latency.

Counters are plain integers by name. A name with a colon has a label: `rejects:too_late`, `latency_ms:250`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from tripline_engine.domain.shard.ports import OutRecord
from tripline_engine.topic_names import ALERTS, REJECTS, SHADOW_ALERTS, TRACES

LATENCY_BOUNDS_MS: Final = (25, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1000, 2500, 5000, 10_000, 60_000)
"""Upper bounds of the latency histogram's buckets; slower alerts count in `latency_ms:inf`."""


class _Times(msgspec.Struct):
    ingestedAt: int | None  # noqa: N815  # the contract's names
    detectedAt: int  # noqa: N815


_TIMES: Final = msgspec.json.Decoder(_Times)


def count_records(records: Iterable[OutRecord]) -> dict[str, int]:
    """`alerts` and their `latency_ms:<upper bound>` (one per bucket) and `latency_ms_sum`, `shadow_alerts`,
    `rejects:<reason>`, `trace_records`."""
    counts: Counter[str] = Counter()
    for record in records:
        if record.topic == ALERTS:
            _count_alert(record, counts)
        elif record.topic == SHADOW_ALERTS:
            counts["shadow_alerts"] += 1
        elif record.topic == REJECTS:
            reason = dict(record.headers).get("reason", b"unknown").decode("utf-8", "replace")
            counts[f"rejects:{reason}"] += 1
        elif record.topic == TRACES:
            counts["trace_records"] += 1
    return dict(counts)


def _count_alert(record: OutRecord, counts: Counter[str]) -> None:
    counts["alerts"] += 1
    times = _TIMES.decode(record.value)
    if times.ingestedAt is None:
        return  # an alert of a catch-up has no latency
    latency = max(0, times.detectedAt - times.ingestedAt)
    bucket = bisect_left(LATENCY_BOUNDS_MS, latency)
    bound = str(LATENCY_BOUNDS_MS[bucket]) if bucket < len(LATENCY_BOUNDS_MS) else "inf"
    counts[f"latency_ms:{bound}"] += 1
    counts["latency_ms_sum"] += latency
