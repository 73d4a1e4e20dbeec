"""Return of free memory from allocators to the system."""

from __future__ import annotations

import ctypes
from typing import Any

import pyarrow as pa


def trim_allocators() -> None:
    """Return freed memory to the system. It takes some milliseconds: for when much has been freed."""
    pa.default_memory_pool().release_unused()
    # glibc keeps free memory that lies below a block in use
    trim: Any = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
