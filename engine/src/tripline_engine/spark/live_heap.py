"""How much of the driver's heap lives: what its last whole collection has left."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject, JVMView

EVERY_SECONDS: Final = 10.0
"""An answer is two calls into the JVM, and a whole collection minutes after the last."""


class LiveHeap:
    """To be looked at in every micro-batch: asks the JVM at most every ten seconds.

    :param old: the pool of what has lived for long, a `java.lang.management.MemoryPoolMXBean`
    :param told: is given the bytes; 0 before the first whole collection
    """

    def __init__(
        self, old: JavaObject, told: Callable[[int], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._old, self._told, self._clock = old, told, clock
        self._asked_at: float | None = None

    def look(self) -> None:
        """Asks, if it is time."""
        now = self._clock()
        if self._asked_at is None or now - self._asked_at >= EVERY_SECONDS:
            self._asked_at = now
            self._told(self._old.getCollectionUsage().getUsed())


def old_part(jvm: JVMView) -> JavaObject:
    """The pool of the heap that only a whole collection looks at, whatever the collector calls it."""
    pools = jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    # of the heap's pools this is the one in which the JVM lets a limit be watched
    return next(
        pool for pool in pools if pool.getType().name() == "HEAP" and pool.isUsageThresholdSupported()
    )
