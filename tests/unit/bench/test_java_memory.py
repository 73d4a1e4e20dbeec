"""What a JVM's memory is, from its mappings."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from bench.harness.java_memory import JavaMemory, java_memory

MIB = 1 << 20


@dataclass
class Seen:
    """A mapping as psutil has it."""

    addr: str
    perms: str
    path: str
    size: int
    anonymous: int


ROOM = Seen("80000000-100000000", "rw-p", "[anon]", 2048 * MIB, 700 * MIB)
REST = [
    Seen("800bc1000-801ec1000", "rw-p", "[anon]", 19 * MIB, 19 * MIB),  # of classes
    Seen("801ec1000-840000000", "---p", "[anon]", 1005 * MIB, 0),
    Seen("55606d000000-55606d400000", "rw-p", "[heap]", 4 * MIB, 3 * MIB),
    Seen("7feb99400000-7feb9a730000", "rwxp", "[anon]", 19 * MIB, 18 * MIB),  # compiled code
    Seen("7fec00000000-7fec04000000", "rw-p", "[anon]", 64 * MIB, 60 * MIB),
    Seen("7fec10000000-7fec10200000", "rw-p", "[anon]", 2 * MIB, 2 * MIB),
    Seen("7fec10200000-7fec14000000", "---p", "[anon]", 62 * MIB, 0),
    Seen("7fec20001000-7fec20801000", "rw-p", "[anon]", 8 * MIB, 1 * MIB),  # a thread's stack
    Seen("7fec30000000-7fec30100000", "rw-p", "/usr/lib/libjvm.so", 1 * MIB, 1 * MIB),
]


def test_the_heap_is_the_largest_that_can_be_written_and_arenas_begin_at_multiples_of_their_size() -> None:
    assert java_memory([*REST, ROOM]) == JavaMemory(heap=700 * MIB, malloc=65 * MIB)


def test_without_a_heap_it_is_no_jvm() -> None:
    with pytest.raises(ValueError, match="empty"):
        java_memory(REST[-1:])
