"""A bundle of evidence: a zip of JSON files, a manifest with the hash of each, and its signature.

The same content gives the same bytes: names are sorted, members of JSON too, and files have no times.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

FORMAT: Final = "tripline-evidence/1"
MANIFEST: Final = "manifest.json"
SIGNATURE: Final = "manifest.sig"
MAX_FILES: Final = 1_000
MAX_BYTES: Final = 64 << 20
"""Of all files of a bundle, unpacked."""
_NO_TIME: Final = (1980, 1, 1, 0, 0, 0)
_FOR_ITS_OWNER: Final = 0o600 << 16


class BundleTooLarge(ValueError):
    """There is more evidence than one bundle takes."""


class Signer(Protocol):
    """Signs with a key that has a name."""

    @property
    def key_id(self) -> str:
        """The name of the key: made of its public half."""

    def sign(self, data: bytes) -> bytes:
        """The signature of these bytes."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a bundle is about, by whom and when (ms) it was drawn, and by which release."""

    kind: str
    identity: str
    made_by: str
    made_at: int
    event_type: str
    release: str


def pack(subject: Subject, contents: Mapping[str, Any], signer: Signer) -> bytes:
    """The zip of these files, by name the JSON that each holds. Raises BundleTooLarge."""
    files = {name: to_bytes(content) for name, content in contents.items()}
    size = sum(map(len, files.values()))
    if len(files) > MAX_FILES or size > MAX_BYTES:
        raise BundleTooLarge(
            f"{len(files)} files with {size} bytes; a bundle takes {MAX_FILES} files and {MAX_BYTES} bytes"
        )
    manifest = to_bytes(
        {
            "format": FORMAT,
            "kind": subject.kind,
            "id": subject.identity,
            "eventType": subject.event_type,
            "madeAt": subject.made_at,
            "madeBy": subject.made_by,
            "release": subject.release,
            "keyId": signer.key_id,
            "files": [
                {"name": name, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
                for name, data in sorted(files.items())
            ],
        }
    )
    signature = base64.b64encode(signer.sign(manifest)) + b"\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in ((MANIFEST, manifest), (SIGNATURE, signature), *sorted(files.items())):
            entry = zipfile.ZipInfo(name, _NO_TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, _FOR_ITS_OWNER
            archive.writestr(entry, data)
    return packed.getvalue()


def to_bytes(content: Any) -> bytes:
    """JSON for people and hashes: sorted, indented, UTF-8."""
    return (json.dumps(content, ensure_ascii=False, sort_keys=True, indent=1) + "\n").encode()
