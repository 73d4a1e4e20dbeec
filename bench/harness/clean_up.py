"""What an engine holds of memory and state at several moments, and whether it is back to where it began.

A clean-up is what a shard does at a tick: rows out of every window go from the arrays and from the state log, and
arrays that are far too large then are built again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from bench.figures import results
from bench.figures.engine_metrics import samples
from bench.figures.results import Result
from bench.harness.engine import Running, Workplace
from bench.harness.state_log import Logged, logged
from tripline_engine.spark.driver.disk_space import disk_bytes

MAX_CLEAN_UPS: Final = 2
_SHARE: Final = 1.1
MEBIBYTE: Final = 1 << 20
_ROWS: Final = "tripline_engine_history_rows"
_BYTES: Final = "tripline_engine_history_bytes"


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that is measured.

    :ivar slack: how much more than the baseline is as good as the baseline, besides a tenth of it
    """

    name: str
    unit: str
    slack: float
    of: Callable[[Held], float]

    def bar(self, baseline: Held) -> float:
        """The most that counts as back."""
        return self.of(baseline) * _SHARE + self.slack


@dataclass(frozen=True, slots=True)
class Held:
    """What an engine holds, all shards together.

    :ivar rows: transactions over all anchors, and the bytes of their arrays, as the engine's metrics say
    :ivar files: bytes of the memory-mapped files on the disk
    :ivar workers: bytes of the Python processes, shared pages by their share, mapped files among them
    :ivar log: the state logs
    :ivar state: bytes of what there is of the state logs on the disk, old versions among them
    """

    rows: float
    arrays: float
    files: int
    workers: int
    log: Logged
    state: int


FIGURES: Final = (
    Figure("transactions held, over all anchors", "rows", 0, lambda held: held.rows),
    Figure("arrays", "MiB", 1, lambda held: held.arrays / MEBIBYTE),
    Figure("memory-mapped files", "MiB", 1, lambda held: held.files / MEBIBYTE),
    Figure("Python workers", "MiB", 64, lambda held: held.workers / MEBIBYTE),
    Figure("state log: keys and values", "MiB", 0.1, lambda held: held.log.bytes / MEBIBYTE),
)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What was held before the history, with it, and after so many clean-ups each time, once it had passed.

    :ivar lingering: how many micro-batches there were after that
    :ivar lingered: bytes of the state on the disk then
    """

    baseline: Held
    peak: Held
    after: Sequence[tuple[int, Held]]
    lingering: int
    lingered: int

    def rows(self) -> list[Result]:
        """The rows of the table. What comes after everything is back says only what has come in since."""
        rows = []
        judged = min(self.needed, self._after[-1][0])
        for figure in FIGURES:
            before, most = figure.of(self.baseline), figure.of(self.peak)
            rows.append(results.told(f"{figure.name}, with the history", most, figure.unit, before))
            for number, held in self._after:
                name, value = f"… after {number} clean-ups", figure.of(held)
                if number == judged:
                    bar = figure.bar(self.baseline)
                    rows.append(results.at_most(name, value, figure.unit, bar, reference=before))
                else:
                    rows.append(results.told(name, value, figure.unit, before))
        entries = [held.log.entries for held in (self.baseline, self.peak, self.after[-1][1])]
        disk = [held.state / MEBIBYTE for held in (self.baseline, self.peak, self.after[-1][1])]
        return [
            *rows,
            results.at_most("clean-ups until all of these are back", self.needed, "clean-ups", MAX_CLEAN_UPS),
            # each micro-batch adds one by anchor until they are merged: they say how many there were, not what is held
            results.told("state log: entries, with the history", entries[1], "entries", entries[0]),
            results.told("… after these clean-ups", entries[2], "entries", entries[0]),
            results.told("state on the disk, with the history", disk[1], "MiB", disk[0]),
            results.told("… after these clean-ups", disk[2], "MiB", disk[0]),
            results.told(
                f"… and {self.lingering} micro-batches more", self.lingered / MEBIBYTE, "MiB", disk[0]
            ),
        ]

    @property
    def needed(self) -> int:
        """After how many clean-ups everything was back; one more than there were if it never was."""
        for number, held in self._after:
            if all(figure.of(held) <= figure.bar(self.baseline) for figure in FIGURES):
                return number
        return 1 + sum(clean_ups for clean_ups, _ in self.after)

    @property
    def _after(self) -> list[tuple[int, Held]]:
        """Each with the number of all clean-ups until then."""
        return list(
            zip(accumulate(number for number, _ in self.after), (held for _, held in self.after), strict=True)
        )


def held(workplace: Workplace, running: Running, log: Logged | None = None) -> Held:
    """Now, while the engine is at rest; the state log is read if it is not given."""
    metrics = samples(running.metrics())
    return Held(
        rows=metrics[_ROWS, ""],
        arrays=metrics[_BYTES, ""],
        files=disk_bytes(workplace.projection),
        workers=running.worker_bytes(),
        log=log or logged(workplace),
        state=workplace.state_bytes(),
    )
