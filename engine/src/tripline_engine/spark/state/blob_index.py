"""Index of a shard's blob files: file names by key, in the state store, 64 keys to an entry.

When all history is read back, one store entry per file would cost one read per file, which took as long as reading the
files. Older checkpoints have such entries (stubs): they are still read, and removed with the entry they stand for.

    files/<folder>/<number // 64>    JSON object: for each key <folder>/<number> its number, and the suffix of its file
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from tripline_engine.domain.state_log.state_log import StateLog

# Part of the checkpoint format: with another number names would be looked up in other entries.
_KEYS_PER_ENTRY: Final = 64
NAMES: Final = "files/"
"""Prefix of the keys of index entries."""
# Neither an Arrow stream nor a columnar run begins with it.
_STUB: Final = b"file "
_DECODER: Final = msgspec.json.Decoder(dict[str, str])


class BlobIndex:
    """One micro-batch's view of the index; `finish` is to be called before the micro-batch ends.

    A key has the form ``<folder>/<number>``, and its file's name begins with the key and a dot.
    """

    def __init__(self, log: StateLog) -> None:
        self._log = log
        self._entries: dict[str, dict[str, str]] = {}
        self._changed: set[str] = set()

    def find(self, keys: Sequence[str]) -> dict[str, str]:
        """File names, below the shard's folder, of those keys that have a file."""
        slots = {key: _slot(key) for key in keys}
        unread = sorted({entry for entry, _ in slots.values()} - self._entries.keys())
        for entry, data in zip(unread, self._log.get_all(unread), strict=True):
            self._entries[entry] = _DECODER.decode(data) if data else {}
        suffixes = {key: self._entries[entry].get(number) for key, (entry, number) in slots.items()}
        return {key: f"{key}.{suffix}" for key, suffix in suffixes.items() if suffix is not None}

    def put(self, key: str, name: str) -> None:
        """Sets the file name of a key."""
        self.find([key])
        entry, number = _slot(key)
        self._entries[entry][number] = name[len(key) + 1 :]
        self._changed.add(entry)

    def pop(self, key: str) -> str | None:
        """Removes the file name of a key and returns it; None if the key has none, or its entry was never read."""
        entry, number = _slot(key)
        suffix = self._entries.get(entry, {}).pop(number, None)
        if suffix is None:
            return None
        self._changed.add(entry)
        return f"{key}.{suffix}"

    def finish(self) -> None:
        """Write changed entries."""
        for entry in sorted(self._changed):
            if names := self._entries[entry]:
                self._log.put(entry, msgspec.json.encode(names))
            else:
                self._log.remove(entry)
        self._changed.clear()


def stubbed(data: bytes | None) -> str | None:
    """The file name in an entry of an older checkpoint, if it is a stub."""
    return data.removeprefix(_STUB).decode() if data is not None and data.startswith(_STUB) else None


def names_in(key: str, data: bytes) -> list[str]:
    """Names of all blob files in an entry of the store, below the shard's folder."""
    if key.startswith(NAMES):
        folder = key.removeprefix(NAMES).rpartition("/")[0]
        return [f"{folder}/{number}.{suffix}" for number, suffix in _DECODER.decode(data).items()]
    stub = stubbed(data)
    return [] if stub is None else [stub]


def _slot(key: str) -> tuple[str, str]:
    """The index entry of a key, and the key's name in it."""
    folder, _, number = key.rpartition("/")
    return f"{NAMES}{folder}/{int(number) // _KEYS_PER_ENTRY}", number
