"""Live bytes of the driver's heap: the size of its old generation after the last full collection."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject, JVMView


def old_generation(jvm: JVMView) -> JavaObject:
    """The heap's old generation, whatever the collector calls that memory pool.

    A `java.lang.management.MemoryPoolMXBean`.
    """
    pools = jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    # the one heap pool for which the JVM supports a usage threshold
    return next(
        pool for pool in pools if pool.getType().name() == "HEAP" and pool.isUsageThresholdSupported()
    )


def live_bytes(old: JavaObject) -> int:
    """Bytes in use after the last full collection; 0 before the first."""
    used: int = old.getCollectionUsage().getUsed()
    return used
