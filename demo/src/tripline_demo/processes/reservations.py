"""Ports between their choice and the start of their servers: two stacks that start at once choose different ones.

Worse than a server that can't start would be a stack that finds another one's broker on its port, and uses it.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tripline_demo.errors import StackFailed
from tripline_demo.processes import ports
from tripline_demo.processes.file_lock import file_lock

SECONDS: Final = 180
"""How long a port stays reserved: longer than any server takes to listen."""


def default_book() -> Path:
    """The file in which this user's stacks reserve their ports, whatever checkouts they are of."""
    folder = Path(tempfile.gettempdir()) / f"tripline-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.getuid():
        raise StackFailed(
            f"{folder} belongs to somebody else: remove it, or set TMPDIR to a folder of yours."
        )
    return folder / "ports.json"


def choose(
    wanted: Mapping[str, int], remembered: Mapping[str, int], owner: Path, book: Path | None = None
) -> dict[str, int]:
    """As `ports.choose`, and no port that another owner has chosen a moment ago. Waits for others who choose."""
    book = book or default_book()
    with file_lock(book.with_suffix(".lock")):
        now = time.time()
        entries = [entry for entry in _read(book) if entry["until"] > now and entry["owner"] != str(owner)]
        chosen = ports.choose(wanted, remembered, [port for entry in entries for port in entry["ports"]])
        entries.append({"owner": str(owner), "until": now + SECONDS, "ports": sorted(chosen.values())})
        book.write_text(json.dumps(entries), encoding="utf-8")
    return chosen


def _read(book: Path) -> list[dict[str, Any]]:
    """The entries; none if the file is not what we write: whoever damaged it loses a courtesy, not a start."""
    try:
        entries = json.loads(book.read_text(encoding="utf-8"))
        return [
            {
                "owner": str(e["owner"]),
                "until": float(e["until"]),
                "ports": [int(port) for port in e["ports"]],
            }
            for e in entries
        ]
    except (OSError, ValueError, TypeError, KeyError):
        return []
