"""How much of a JVM's memory is its heap, and how much malloc has for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

# glibc's arenas, but for the first, lie at multiples of this and are no larger. Hardly anything else does.
_ARENA: Final = 64 << 20


class Mapping(Protocol):
    """As `psutil.Process.memory_maps(grouped=False)` has it; `size` and `anonymous` in bytes."""

    @property
    def addr(self) -> str: ...
    @property
    def perms(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def anonymous(self) -> int: ...


@dataclass(frozen=True, slots=True)
class JavaMemory:
    """Bytes that have memory.

    :ivar heap: of Java's objects
    :ivar malloc: of malloc's arenas, for compilers, symbols, buffers, and RocksDB; what is free in them counts
    """

    heap: int
    malloc: int


def java_memory(mappings: Sequence[Mapping]) -> JavaMemory:
    """Of one JVM. Its heap is the largest mapping that can be written; raises ValueError where there is none."""
    unnamed = [mapping for mapping in mappings if mapping.path == "[anon]" and mapping.perms.startswith("rw")]
    heap = max(unnamed, key=lambda mapping: mapping.size)
    arenas = [mapping for mapping in unnamed if _is_arena(mapping)]
    first = [mapping for mapping in mappings if mapping.path == "[heap]"]
    return JavaMemory(heap.anonymous, sum(mapping.anonymous for mapping in (*first, *arenas)))


def _is_arena(mapping: Mapping) -> bool:
    start, _ = mapping.addr.split("-")
    return int(start, 16) % _ARENA == 0 and mapping.size <= _ARENA
