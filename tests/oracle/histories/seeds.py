"""Seeds of random histories, the same ones whatever else is loaded.

Hypothesis draws constants of loaded modules now and then, so what it draws differs between a file run alone and a whole
run. A test that counts what its histories have come to needs the same histories in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random


def seeds(count: int) -> Iterator[tuple[int, Random]]:
    """Seeds from zero on, each with what draws the rest of its example: a profile, a number of shards, a cut."""
    for seed in range(count):
        yield seed, Random(f"the rest of example {seed}")
