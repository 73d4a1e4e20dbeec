"""Files with secrets, or with what decides who gets in: written in one step, without following what was planted."""

from __future__ import annotations

import os
from pathlib import Path


def write(path: Path, text: str, *, mode: int = 0o600, uid: int = -1, gid: int = -1) -> None:
    """Replaces the file, with this mode from its first byte on. A link in its place is replaced and not followed.

    :param uid: its owner and group; -1: whoever calls
    """
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        os.fchown(descriptor, uid, gid)
        os.fchmod(descriptor, mode)
        file.write(text)
    fresh.replace(path)
