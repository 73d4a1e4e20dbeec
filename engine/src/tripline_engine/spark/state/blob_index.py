"""Which file has which large entry of a shard's state log: names in the store, many of them together in one entry.

When all history is read back, a name in an entry of its own would be a question to the store for each file, and those
took as long as reading the files did. An entry for each is what older checkpoints have (a stub): they are read, and go
when what they name does.

    files/<folder>/<number // 64>    of entries <folder>/<number>, by number, what their file's name has behind that
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from tripline_engine.domain.state_log.state_log import StateLog

# Part of how checkpoints are written: with another number what has a name would be looked for elsewhere.
_TOGETHER: Final = 64
NAMES: Final = "files/"
"""What the keys of entries with names begin with."""
# Neither an Arrow stream nor an apart run begins with it.
_STUB: Final = b"file "
_DECODER: Final = msgspec.json.Decoder(dict[str, str])


class BlobIndex:
    """One micro-batch's view of them; `finish` is to be called before that ends.

    A key has the form ``<folder>/<number>``, and its file's name begins with the key and a dot.
    """

    def __init__(self, log: StateLog) -> None:
        self._log = log
        self._known: dict[str, dict[str, str]] = {}
        self._changed: set[str] = set()

    def find(self, keys: Sequence[str]) -> dict[str, str]:
        """Of each of these keys that has a file the file's name, below the shard's folder."""
        places = {key: _place(key) for key in keys}
        unread = sorted({block for block, _ in places.values()} - self._known.keys())
        for block, data in zip(unread, self._log.get_all(unread), strict=True):
            self._known[block] = _DECODER.decode(data) if data else {}
        ends = {key: self._known[block].get(number) for key, (block, number) in places.items()}
        return {key: f"{key}.{end}" for key, end in ends.items() if end is not None}

    def put(self, key: str, name: str) -> None:
        """That is the name of its file from now on."""
        self.find([key])
        block, number = _place(key)
        self._known[block][number] = name[len(key) + 1 :]
        self._changed.add(block)

    def pop(self, key: str) -> str | None:
        """It has no file any more; the name of the one that it had, as far as has been found out."""
        block, number = _place(key)
        end = self._known.get(block, {}).pop(number, None)
        if end is None:
            return None
        self._changed.add(block)
        return f"{key}.{end}"

    def finish(self) -> None:
        """Write what has changed."""
        for block in sorted(self._changed):
            if names := self._known[block]:
                self._log.put(block, msgspec.json.encode(names))
            else:
                self._log.remove(block)
        self._changed.clear()


def stubbed(data: bytes | None) -> str | None:
    """The file that an entry of an older checkpoint names, if it is a stub."""
    return data.removeprefix(_STUB).decode() if data is not None and data.startswith(_STUB) else None


def names_in(key: str, data: bytes) -> list[str]:
    """All files that an entry of the store names, below the shard's folder."""
    if key.startswith(NAMES):
        folder = key.removeprefix(NAMES).rpartition("/")[0]
        return [f"{folder}/{number}.{end}" for number, end in _DECODER.decode(data).items()]
    stub = stubbed(data)
    return [] if stub is None else [stub]


def _place(key: str) -> tuple[str, str]:
    """The entry that has its name, and what it is there by."""
    folder, _, number = key.rpartition("/")
    return f"{NAMES}{folder}/{int(number) // _TOGETHER}", number
