"""The state log of one shard: its durable state, as a map from text to bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

SEGMENT: Final = "segment/"
"""What the keys of segments of the history begin with."""


BUCKETS: Final = "buckets/"
"""What the keys of runs of buckets begin with."""

LISTS: Final = "lists/"
"""What the keys of chunks of named lists begin with."""


LARGE_ONES: Final = (SEGMENT, BUCKETS, LISTS)
"""Such an entry may be large. Before it is put a second time, it is read in the same micro-batch: whoever keeps it asks
only then where it is, and would have it twice."""


class StateLog(Protocol):
    """The durable state of one shard: a map from text to bytes that changes with its micro-batch or not at all."""

    def get(self, key: str) -> bytes | None: ...

    def get_all(self, keys: Sequence[str]) -> list[bytes | None]:
        """Of each key what ``get`` gives: cheaper than one by one."""

    def put(self, key: str, data: bytes) -> None: ...

    def remove(self, key: str) -> None: ...

    def remove_all(self, keys: Sequence[str]) -> None:
        """Remove each key: cheaper than one by one."""
