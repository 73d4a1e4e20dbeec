"""Members of events from rules.v1, read strictly: the registry writes them, but whoever reads checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def read_integer(event: Mapping[str, Any], name: str) -> int:
    """The member, an integer; LookupError if it is missing, ValueError if it is something else."""
    value = event[name]
    if not is_integer(value):
        raise ValueError(f"{name} must be an integer that JSON can carry")
    return int(value)


def read_text(event: Mapping[str, Any], name: str) -> str:
    """The member, a text; LookupError if it is missing, ValueError if it is something else."""
    value = event[name]
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text")
    return value


def is_integer(value: object) -> bool:
    """True for an integer of canonical JSON, and so fit for an alert's id: none beyond 2^53."""
    return isinstance(value, int) and not isinstance(value, bool) and -(2**53) < value < 2**53
