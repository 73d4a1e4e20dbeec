"""Work on a long history, on all cores at once: kernels and Arrow let other threads run meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from types import MappingProxyType
from typing import Final

Work = Callable[[], object]

# So many transactions are much: threads cost a millisecond.
_MUCH = 100_000
_AT_ONCE: Final[Mapping[Work, Collection[Work]]] = MappingProxyType({})


def run_parallel(work: Sequence[Work], rows: int, after: Mapping[Work, Collection[Work]] = _AT_ONCE) -> None:
    """Do all of it, what waits for nothing in this order; by all cores at once if it is about that many rows.

    Raises what one that fails raises, when none is at work any more.

    :param work: no two are equal
    :param after: of some of it, which other work is to be done before it begins
    """
    order = TopologicalSorter({each: after.get(each, ()) for each in work})
    if rows < _MUCH or len(work) < 2:
        for each in order.static_order():
            each()
        return
    order.prepare()
    running: dict[Future[object], Work] = {}
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        while order.is_active():
            running |= {threads.submit(each): each for each in order.get_ready()}
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                done.result()
                order.done(running.pop(done))
