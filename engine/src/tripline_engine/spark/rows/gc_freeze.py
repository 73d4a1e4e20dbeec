"""`gc.freeze` in Spark's Python workers: bounds what the garbage collector traverses after each task.

Spark's worker collects garbage after each task, and traverses every object that is not frozen. A freeze in the middle
of a task also freezes about a hundred objects of that task, which are garbage once the task ends and are then never
collected. So a worker freezes only where many objects would be traversed, and now and then unfreezes and collects all.
"""

from __future__ import annotations

import gc
from typing import Final

MIN_OBJECTS: Final = 10_000
"""Unfrozen objects from which on a freeze pays: to traverse so many takes a millisecond."""
FREEZES_PER_FULL_COLLECTION: Final = 256
"""A full collection takes a tenth of a second; until then each freeze leaks ten kilobytes."""


class GcFreezer:
    """The freeze policy of one worker process."""

    def __init__(
        self,
        min_objects: int = MIN_OBJECTS,
        freezes_per_full_collection: int = FREEZES_PER_FULL_COLLECTION,
    ) -> None:
        self._min_objects, self._freezes_per_full_collection = min_objects, freezes_per_full_collection
        self._freezes = 0

    def task_done(self) -> None:
        """To be called near the end of each task."""
        if len(gc.get_objects()) >= self._min_objects:
            self._freezes += 1
            if self._freezes % self._freezes_per_full_collection == 0:
                gc.unfreeze()
                gc.collect()
            gc.freeze()


GC_FREEZER: Final = GcFreezer()
"""The one of this process."""
