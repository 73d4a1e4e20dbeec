"""A Kafka record as it came."""

from __future__ import annotations

from dataclasses import dataclass

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Record:
    """Everything of a record that a consumer sees but for its topic.

    `timestamp` is in ms since the epoch, −1 where a record has none. Headers keep their order; a name may come twice.
    """

    partition: int
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers

    @property
    def size(self) -> int:
        """Bytes of its key, value and headers, and a little for the rest."""
        headers = sum(len(name) + len(data or b"") for name, data in self.headers)
        return 32 + len(self.key or b"") + len(self.value or b"") + headers
