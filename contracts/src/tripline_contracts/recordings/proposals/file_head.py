"""The first bytes of a file, unpacked and ended with a whole line, so that they can be read like a file.

Nobody knows whom they are from: what they unpack to is bounded.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import IO, Final

from tripline_contracts.errors import CutOff, UnreadableFile
from tripline_contracts.recordings.compression import Packing, Unpacked, packing_of, unpacked
from tripline_contracts.recordings.file_mapping import Format
from tripline_contracts.recordings.lines import buffered
from tripline_contracts.recordings.recording import PARQUET, recognised

MAX_BYTES: Final = 196_608
"""Of a file: enough for hundreds of rows; as base64 262,144 characters."""
_MAX_UNPACKED: Final = 1_048_576
_PIECE: Final = 64
_WINDOW: Final = 8_388_608
"""What zstd has up to level 19."""
_ELSEWHERE: Final = "`tripline-engine propose-mapping FILE` proposes a mapping where the file is"


@dataclass(frozen=True, slots=True)
class Head:
    """What a file begins with.

    :ivar content: unpacked; of lines whole ones, of a JSON array what there is
    :ivar is_cut: the file goes on
    :ivar damage: why the packed bytes cannot be read to the end of the file
    """

    content: bytes
    format: Format
    packing: Packing | None
    is_cut: bool
    damage: str | None = None

    def opened(self) -> IO[bytes]:
        """As a file, from its beginning."""
        return io.BytesIO(self.content)


def head_of_file(file: IO[bytes]) -> Head:
    """Of a file that is text, packed or not. Raises UnreadableFile."""
    data = file.read(MAX_BYTES + 1)
    return head_of_bytes(data[:MAX_BYTES], is_whole=len(data) <= MAX_BYTES)


def head_of_bytes(data: bytes, *, is_whole: bool) -> Head:
    """Of the first bytes of a file, or of all. Raises UnreadableFile with the reason why they cannot be looked at."""
    if data.startswith(PARQUET):
        raise UnreadableFile(
            f"the file is Parquet, which says at its end what its columns are, and is not read here; {_ELSEWHERE}"
        )
    packing = packing_of(data)
    content, ends, damage = _first_of(unpacked(io.BytesIO(data), _PIECE, _WINDOW), is_whole=is_whole)
    if packing and packing_of(content):
        raise UnreadableFile("the file is packed twice; expected it packed once, or not")
    form = recognised(buffered(io.BytesIO(content)))
    if ends or form == "json-array":
        return Head(content, form, packing, not ends, damage)
    last = max(content.rfind(b"\n"), content.rfind(b"\r")) + 1
    if not last:
        raise UnreadableFile(
            damage or f"no line ends within the first {len(content)} bytes; expected lines, or a JSON array"
        )
    return Head(content[:last], form, packing, True, damage)


def _first_of(file: Unpacked, *, is_whole: bool) -> tuple[bytes, bool, str | None]:
    """The first bytes, whether the file ends with them, and what is wrong with it."""
    content, size = [], 0
    try:
        while size < _MAX_UNPACKED and (data := file.read(_MAX_UNPACKED - size)):
            content.append(data)
            size += len(data)
    except CutOff as error:
        # what is sent of a packed file ends anywhere
        return b"".join(content), False, str(error) if is_whole else None
    return b"".join(content), is_whole and size < _MAX_UNPACKED, None
