"""Work on a long history, on all cores at once: kernels and Arrow let other threads run meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

# So many transactions are much: threads cost a millisecond.
_MUCH = 100_000


def side_by_side(work: Sequence[Callable[[], object]], rows: int) -> None:
    """Do all of it, begun in this order; by as many threads as there are cores if it is about that many rows.

    Raises what the first one that fails raises, when none is at work any more.
    """
    if rows < _MUCH or len(work) < 2:
        for each in work:
            each()
        return
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        for done in [threads.submit(each) for each in work]:
            done.result()
