"""Seeds of random histories, the same ones whatever else is loaded.

Hypothesis draws constants of loaded modules now and then, so what it draws differs between a file run alone and a whole
run. A test that counts what its histories have come to needs the same histories in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random


def seeds(wanted: Iterable[int]) -> Iterator[tuple[int, Random]]:
    """Each with what draws the rest of its example: a profile, a number of shards, a cut."""
    for seed in wanted:
        yield seed, Random(f"the rest of example {seed}")
