"""Files that hold transactions are for their owner alone, whatever umask the process was started with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_OWNER_ONLY: Final = 0o077


@contextmanager
def private_files() -> Iterator[None]:
    """Within it, this process and those that it starts make files of mode 0600 and folders of 0700."""
    before = os.umask(_OWNER_ONLY)
    try:
        yield
    finally:
        os.umask(before)
