"""A shard's state log in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class MemoryLog:
    """A state log that ends with the process; what is put is there at once."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}

    def copy(self) -> MemoryLog:
        """One with the same, of which nothing comes here."""
        other = MemoryLog()
        other._data = dict(self._data)
        return other

    def get(self, key: str) -> bytes | None:
        return self._data.get(key)

    def get_all(self, keys: Sequence[str]) -> list[bytes | None]:
        return [self.get(key) for key in keys]

    def put(self, key: str, data: bytes) -> None:
        self._data[key] = data

    def remove(self, key: str) -> None:
        self._data.pop(key, None)

    def remove_all(self, keys: Sequence[str]) -> None:
        for key in keys:
            self.remove(key)

    def items(self) -> Iterator[tuple[str, bytes]]:
        yield from list(self._data.items())
