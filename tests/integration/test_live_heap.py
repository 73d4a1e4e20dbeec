"""What a JVM's own accounts say of a whole collection."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from py4j.java_gateway import JavaGateway, JVMView
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway

from tripline_demo.embedded.java import Java
from tripline_engine.spark.driver.jvm_heap import live_bytes, old_generation

MIB = 1 << 20


@pytest.fixture
def gateway(java: Java, monkeypatch: pytest.MonkeyPatch) -> Iterator[JavaGateway]:
    """A JVM with Spark's classes and no session."""
    monkeypatch.setenv("JAVA_HOME", str(java.home))
    options = SparkConf(loadDefaults=False).set("spark.driver.extraJavaOptions", "-XX:+UseSerialGC")
    gateway = launch_gateway(options)  # type: ignore[no-untyped-call]
    try:
        yield gateway
    finally:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=30)


def whole_collections(jvm: JVMView) -> int:
    """The number of collections so far that looked at the old generation."""
    old = old_generation(jvm).getName()
    collectors = jvm.java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()
    return sum(
        collector.getCollectionCount()
        for collector in collectors
        if old in list(collector.getMemoryPoolNames())
    )


@pytest.mark.timeout(120)
def test_what_lives_is_told_and_garbage_is_not(gateway: JavaGateway) -> None:
    jvm = gateway.jvm
    heap = old_generation(jvm)
    collections = whole_collections(jvm)
    before = live_bytes(heap)
    if collections == whole_collections(jvm):
        # on a busy machine a JVM may have collected before it was asked for the first time
        assert (before > 0) == (collections > 0)
    held = jvm.java.lang.StringBuilder()
    held.setLength(30 * MIB)
    jvm.System.gc()
    with_it = live_bytes(heap)
    held.setLength(0)
    held.trimToSize()
    jvm.System.gc()
    without = live_bytes(heap)
    assert with_it > 30 * MIB
    assert without == pytest.approx(with_it - 30 * MIB, abs=2 * MIB)
