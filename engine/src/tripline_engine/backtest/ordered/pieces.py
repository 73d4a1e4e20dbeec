"""Anything that can be gone through once, piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def pieces(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of so many, the last one of what is left."""
    rest = iter(items)
    while piece := list(islice(rest, size)):
        yield piece
