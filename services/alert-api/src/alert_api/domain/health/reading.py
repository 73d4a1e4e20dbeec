"""What one look at a part of the line saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of a metric."""

    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a part said of itself: what keeps it from being ready, if anything, and its metrics by name."""

    trouble: str | None = None
    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)

    def total(self, name: str) -> int | None:
        """The metric, added up over its labels; None where the part has none of that name."""
        samples = self.samples.get(name)
        return int(sum(sample.value for sample in samples)) if samples else None

    def by_label(self, name: str, label: str) -> dict[str, int]:
        """The metric's values by one of its labels."""
        return {sample.labels.get(label, ""): int(sample.value) for sample in self.samples.get(name, ())}
