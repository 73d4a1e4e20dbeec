"""Memory that libraries keep for later, back to the system."""

from __future__ import annotations

import ctypes
from typing import Any

import pyarrow as pa


def trim_allocators() -> None:
    """Have the system take what has been freed. It takes some milliseconds: for when much has been let go."""
    pa.default_memory_pool().release_unused()
    # glibc's, which keeps what lies below anything that is still in use
    trim: Any = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
