"""What windows of one group hold, of a payment each millisecond: a plain look at arrays, window by window."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np

from bench.independent.windows import Held
from bench.workload.rules import Subject
from bench.workload.workload import Column, Workload


def plainly_held(load: Workload, subject: Subject, asked: Column) -> Held:
    """What the windows of these payments hold: the payment number n is that of millisecond n, both ends are in."""
    total, count, extreme = (np.zeros(asked.size, np.int64) for _ in range(3))
    for probe, number in enumerate(asked.tolist()):
        window = slice(max(0, number - 1_000 * subject.window_seconds), number + 1)
        cents = load.cents[window]
        count[probe] = cents.size
        total[probe] = _plain_value(subject, load, window, int(cents.sum()))
        extreme[probe] = cents.min() if subject.function == "MIN" else cents.max()
    return Held(total, count, extreme)


def _plain_value(subject: Subject, load: Workload, window: slice, otherwise: int) -> int:
    """What a subject tells of a window, of times in ms, of deviations in millionths."""
    match subject.function:
        case "COUNT_DISTINCT":
            return int(np.unique(load.key(subject.counted)[window]).size)
        case "CHANGED":
            before, last = load.key(subject.counted)[window][-2:]
            return int(before != last)
        case "SECONDS_SINCE_PREVIOUS":
            return 1
        case "SECONDS_SINCE_FIRST":
            return int(window.stop - 1 - window.start)
        case "STDDEV":
            cents = load.cents[window]
            count, squares = cents.size, int((cents * cents).sum())
            variance = Decimal(count * squares - otherwise**2) / (count * (count - 1))
            return int((variance.sqrt() * 10_000).to_integral_value(ROUND_HALF_EVEN))
        case _:
            return otherwise
