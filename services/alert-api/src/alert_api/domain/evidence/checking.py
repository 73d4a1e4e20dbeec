"""Whether a bundle is as it was signed. It needs the file and a public key, and nothing else.

Nothing is unpacked to disk, and nothing is read beyond what the signed manifest says of it, so that a file from
anywhere may be looked at.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from alert_api.domain.evidence.bundle import FORMAT, MANIFEST, MAX_BYTES, MAX_FILES, SIGNATURE

Verify = Callable[[bytes, bytes], bool]
"""Whether a signature (the first) is one of these bytes, by the key that is trusted."""

_MANIFEST_BYTES: Final = 1 << 20
_NAME: Final = re.compile(r"[a-z0-9-]{1,64}(/[a-z0-9-]{1,64}){0,3}\.json")
_DAMAGED: Final = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError),
)
"""What zipfile raises for a file that is damaged, or made to be."""


class NotAsSigned(ValueError):
    """The bundle is not what was signed; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A bundle that is as it was signed: its manifest, and the files by name."""

    manifest: Mapping[str, Any]
    files: Mapping[str, Any]


def check(data: bytes, verify: Verify) -> Checked:
    """The content of a bundle. Raises NotAsSigned."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _check(archive, verify)
    except NotAsSigned:
        raise
    except _DAMAGED as error:
        raise NotAsSigned(f"the file is no zip, or a damaged one: {error}") from error


def _check(archive: zipfile.ZipFile, verify: Verify) -> Checked:
    names = archive.namelist()
    if len(names) > MAX_FILES + 2 or len(set(names)) < len(names):
        raise NotAsSigned("the zip has too many files, or two of one name")
    manifest_bytes = _read(archive, MANIFEST, _MANIFEST_BYTES)
    if not verify(_signature(_read(archive, SIGNATURE, 1_000)), manifest_bytes):
        raise NotAsSigned("the signature is not one of this manifest by this key")
    manifest = _json(MANIFEST, manifest_bytes)
    listed = list(_listed(manifest))
    extra = set(names) - {name for name, _, _ in listed} - {MANIFEST, SIGNATURE}
    if extra:
        raise NotAsSigned(f"{min(extra)} is in the zip, and the manifest does not name it")
    files = {}
    for name, size, digest in listed:
        content = _read(archive, name, size)
        if len(content) != size or hashlib.sha256(content).hexdigest() != digest:
            raise NotAsSigned(f"{name} is not what the manifest says: it was changed")
        files[name] = _json(name, content)
    return Checked(manifest, files)


def _read(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """At most so many bytes and one more: whatever the zip says of its size."""
    try:
        with archive.open(name) as file:
            return file.read(most + 1)
    except KeyError as error:
        raise NotAsSigned(f"{name} is missing") from error


def _signature(text: bytes) -> bytes:
    try:
        return base64.b64decode(text.strip(), validate=True)
    except binascii.Error as error:
        raise NotAsSigned(f"{SIGNATURE} is no Base64") from error


def _listed(manifest: Any) -> Iterator[tuple[str, int, str]]:
    """Name, bytes and SHA-256 of each file. What was signed is believed, and still may not be anything."""
    try:
        if manifest["format"] != FORMAT:
            raise NotAsSigned(f"format: expected {FORMAT}, found {manifest['format']!r}")
        rows = [(row["name"], row["bytes"], row["sha256"]) for row in manifest["files"]]
        if sum(size for _, size, _ in rows) > MAX_BYTES:
            raise NotAsSigned(f"the files are larger than {MAX_BYTES} bytes together")
    except (LookupError, TypeError) as error:
        raise NotAsSigned(f"{MANIFEST} is none: {error}") from error
    for name, size, digest in rows:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise NotAsSigned(f"{name!r} is no name of a file of evidence")
        yield name, size, digest


def _json(name: str, data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise NotAsSigned(f"{name} is no JSON: {error}") from error
