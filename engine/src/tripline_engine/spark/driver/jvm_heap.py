"""How much of the driver's heap lives: what its last whole collection has left."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject, JVMView


def old_generation(jvm: JVMView) -> JavaObject:
    """The pool of the heap that only a whole collection looks at, whatever the collector calls it.

    A `java.lang.management.MemoryPoolMXBean`.
    """
    pools = jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    # of the heap's pools this is the one in which the JVM lets a limit be watched
    return next(
        pool for pool in pools if pool.getType().name() == "HEAP" and pool.isUsageThresholdSupported()
    )


def live_bytes(old: JavaObject) -> int:
    """Bytes that the last whole collection has left there; 0 before the first."""
    left: int = old.getCollectionUsage().getUsed()
    return left
