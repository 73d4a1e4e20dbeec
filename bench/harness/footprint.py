"""What the engine of a running line takes of memory, descriptors and time, again and again, and whether that grows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import psutil

from bench.figures import results
from bench.figures.assessment import growth
from bench.figures.engine_metrics import BATCHES, SECONDS, samples
from bench.figures.results import Result
from bench.harness.java_memory import JavaMemory, java_memory
from bench.harness.stack import Stack

EVERY_SECONDS: Final = 10.0
_ENGINE: Final = "tripline-engine"
_ARRAYS: Final = "tripline_engine_history_bytes"
_LIVE: Final = "tripline_engine_live_heap_bytes"
_MEBIBYTE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Footprint:
    """At one moment (`at`: seconds of the monotonic clock).

    :ivar own: bytes of memory of the engine's processes, files that are mapped left out; `java`: of the JVM among them,
        and `parts` of that
    :ivar live: bytes that the last whole collection of the driver's heap has left; `arrays`: of its mapped files;
        both as its metrics have it
    :ivar descriptors: file descriptors of its processes
    :ivar batches: micro-batches so far, and the `seconds` that they took
    """

    at: float
    own: int
    java: int
    parts: JavaMemory
    live: float
    arrays: float
    descriptors: int
    batches: float
    seconds: float


class Footprints:
    """To be called every second or so; looks every ten."""

    def __init__(self) -> None:
        self.taken: list[Footprint] = []

    def observe(self, stack: Stack) -> None:
        """Takes one, if it is time."""
        now = time.monotonic()
        if not self.taken or now - self.taken[-1].at >= EVERY_SECONDS:
            self.taken.append(_taken(stack, now))

    def rows(self) -> list[Result]:
        """How much each figure grew, as a share of its median. Raises ValueError with fewer than three."""
        if len(self.taken) < 3:
            raise ValueError(f"{len(self.taken)} looks at the engine say nothing of growth")
        rows = []
        for figure in FIGURES:
            values = figure.values(self.taken)
            span = values[-1][0] - values[0][0]
            median = float(np.median([value for _, value in values]))
            rows.append(results.told(f"engine: {figure.name}, median", median, figure.unit))
            name, share = f"… its growth in {span / 60:.0f} minutes, of that", 100 * growth(values)
            if figure.most is None:
                rows.append(results.told(name, share, "%", median))
            else:
                rows.append(results.at_most(name, share, "%", figure.most, reference=median))
        return rows


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that may not grow.

    :ivar most: by so much of its median, in percent, over the whole time; None for what is only told
    """

    name: str
    unit: str
    most: float | None
    of: Callable[[Footprint, Footprint], float]

    def values(self, taken: list[Footprint]) -> list[tuple[float, float]]:
        """(seconds, value) of each but the first."""
        return [(after.at, self.of(before, after)) for before, after in pairwise(taken)]


FIGURES: Final = (
    Figure("memory of its processes without mapped files", "MiB", 5, lambda _, now: now.own / _MEBIBYTE),
    Figure("the JVM among these", "MiB", None, lambda _, now: now.java / _MEBIBYTE),
    Figure("the JVM's heap", "MiB", None, lambda _, now: now.parts.heap / _MEBIBYTE),
    Figure("what a whole collection leaves in the heap", "MiB", None, lambda _, now: now.live / _MEBIBYTE),
    Figure("malloc in the JVM", "MiB", None, lambda _, now: now.parts.malloc / _MEBIBYTE),
    Figure("mapped files", "MiB", 5, lambda _, now: now.arrays / _MEBIBYTE),
    Figure("file descriptors", "descriptors", 5, lambda _, now: now.descriptors),
    Figure(
        "a micro-batch", "ms", 10,
        lambda before, now: (now.seconds - before.seconds) / max(1, now.batches - before.batches) * 1_000,
    ),
)  # fmt: skip


def _taken(stack: Stack, now: float) -> Footprint:
    metrics = samples(stack.metrics())
    engine_bytes = java = descriptors = 0
    parts = JavaMemory(0, 0)
    for process in _engine(stack):
        try:
            memory = process.memory_info()
            private = memory.rss - memory.shared
            engine_bytes += private
            if process.name() == "java":
                java += private
                parts = java_memory(process.memory_maps(grouped=False))
            descriptors += process.num_fds()
        except psutil.NoSuchProcess:
            continue  # it has ended meanwhile
    return Footprint(
        now, engine_bytes, java, parts, metrics[_LIVE, ""], metrics[_ARRAYS, ""], descriptors,
        metrics[BATCHES, ""], metrics[SECONDS, ""],
    )  # fmt: skip


def _engine(stack: Stack) -> Iterator[psutil.Process]:
    """Its driver, and all processes below that."""
    for process in psutil.Process(stack.process.process.pid).children(recursive=True):
        if any(_ENGINE in word for word in process.cmdline()[:2]):
            yield process
            yield from process.children(recursive=True)
            return
