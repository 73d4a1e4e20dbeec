"""Parallel work on a long history, on all cores: kernels and Arrow release the GIL meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from types import MappingProxyType
from typing import Final

Work = Callable[[], object]

PARALLEL_ROWS: Final = 100_000
"""Transactions from which threads are worth their start, which takes a millisecond."""

_NO_DEPENDENCIES: Final[Mapping[Work, Collection[Work]]] = MappingProxyType({})


def run_parallel(
    work: Sequence[Work],
    rows: int,
    after: Mapping[Work, Collection[Work]] = _NO_DEPENDENCIES,
    *,
    parallel_rows: int = PARALLEL_ROWS,
    threads: int | None = None,
) -> None:
    """Do all of the work, in this order as far as dependencies allow; on several threads if it is about many rows.

    Raises the error of the first work that fails, once no other is running.

    :param work: no two are equal
    :param rows: transactions that the work is about
    :param after: by work, the other work that has to be done before it begins
    :param parallel_rows: with fewer rows the work is done in this thread
    :param threads: at most as many; else one for each core
    """
    order = TopologicalSorter({piece: after.get(piece, ()) for piece in work})
    if rows < parallel_rows or len(work) < 2:
        for piece in order.static_order():
            piece()
        return
    order.prepare()
    running: dict[Future[object], Work] = {}
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        while order.is_active():
            running |= {pool.submit(piece): piece for piece in order.get_ready()}
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                done.result()
                order.done(running.pop(done))
