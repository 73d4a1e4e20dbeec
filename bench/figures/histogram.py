"""A histogram as text: how many of the values lie in each of some steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

STEPS_MS: Final = (50, 100, 150, 200, 250, 300, 400, 500, 750, 1_000, 2_000)
_WIDTH: Final = 60


def drawn(values: Sequence[float], steps: Sequence[float] = STEPS_MS, unit: str = "ms") -> list[str]:
    """A line per step, up to the last that has a value; its bar as long as its share of the longest."""
    edges = [0.0, *steps, float("inf")]
    counts, _ = np.histogram(values, edges)
    if not counts.any():
        return []
    last = int(np.flatnonzero(counts)[-1])
    lines = []
    for count, edge in list(zip(counts.tolist(), edges[1:], strict=True))[: last + 1]:
        name = f"> {steps[-1]:,g} {unit}" if edge == float("inf") else f"<= {edge:,g} {unit}"
        bar = "█" * round(_WIDTH * count / counts.max())
        lines.append(f"{name:>12} {count / counts.sum():6.1%} {count:>8,} {bar}")
    return lines
