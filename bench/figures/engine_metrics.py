"""Where a micro-batch's time goes: the engine's own metrics at the beginning and at the end of the timed part."""

from __future__ import annotations

from typing import Final

from prometheus_client.parser import text_string_to_metric_families

from bench.figures import results
from bench.figures.results import Result

BATCHES: Final = "tripline_engine_batch_seconds_count"
SECONDS: Final = "tripline_engine_batch_seconds_sum"
_STAGE: Final = "tripline_engine_batch_stage_seconds_total"
_REBUILDS: Final = "tripline_engine_rebuilds_total"
_PRIVATE: Final = "tripline_engine_private_copies_total"

Samples = dict[tuple[str, str], float]


def rows(before: str, after: str) -> list[Result]:
    """Means per micro-batch. Rebuilds in steady state must be 0."""
    first, last = samples(before), samples(after)
    delta = {key: value - first.get(key, 0.0) for key, value in last.items()}
    batches = delta[BATCHES, ""]
    stages = sorted(stage for name, stage in delta if name == _STAGE)
    return [
        results.told("micro-batches", batches, "batches"),
        results.told("micro-batch, mean", delta[SECONDS, ""] / batches * 1_000, "ms"),
        *(
            results.told(f"… {stage}", delta[_STAGE, stage] / batches * 1_000, "ms")
            for stage in stages
        ),
        results.at_most("histories built again", delta[_REBUILDS, ""], "times", 0),
        results.at_most("histories held twice", delta[_PRIVATE, ""], "times", 0),
    ]  # fmt: skip


def samples(text: str) -> Samples:
    """Values by name and the label `stage` (empty: it has none); other labels are summed over."""
    metrics: Samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            key = (sample.name, sample.labels.get("stage", ""))
            metrics[key] = metrics.get(key, 0.0) + sample.value
    return metrics
