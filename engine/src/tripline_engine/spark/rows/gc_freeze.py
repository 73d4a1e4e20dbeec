"""What a worker's collector of garbage has to look through.

Spark's worker looks through everything after each task, but for what has been set aside (`gc.freeze`). Whoever sets
aside in the middle of a task has a hundred objects of that task's own among it, which nobody finds any more when the
task is over. So it is done where there is much to look through, and every so often everything is looked through once.
"""

from __future__ import annotations

import gc
from typing import Final

MANY: Final = 10_000
"""So many objects, or more, are set aside: to look through them takes a millisecond."""
TIMES: Final = 256
"""After so many times everything is looked through, a tenth of a second. Until then each loses ten kilobytes."""


class GcFreezer:
    """Of one worker process."""

    def __init__(self) -> None:
        self._times = 0

    def task_done(self) -> None:
        """To be called near the end of each task."""
        if len(gc.get_objects()) >= MANY:
            self._times += 1
            if self._times % TIMES == 0:
                gc.unfreeze()
                gc.collect()
            gc.freeze()


GC_FREEZER: Final = GcFreezer()
"""This process's."""
