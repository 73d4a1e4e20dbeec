"""Seeds of random histories, the same ones whatever else is loaded.

Hypothesis draws constants of loaded modules now and then, so what it draws differs between a file run alone and a whole
run. A test that counts what its histories have come to needs the same histories in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest


def seeds(wanted: int | range) -> Iterator[tuple[int, Random]]:
    """These, or so many from zero on, each with what draws the rest of its example: a profile, some shards, a cut."""
    for seed in range(wanted) if isinstance(wanted, int) else wanted:
        yield seed, Random(f"the rest of example {seed}")


def in_parts(now: int, *, with_soak: int) -> pytest.MarkDecorator:
    """A test with the parameter `histories` goes through so many in `make test`, and through the rest in `make soak`.

    :return: a decorator; `histories` is a range of seeds
    """
    rest = pytest.param(range(now, with_soak), id="more", marks=pytest.mark.soak)
    return pytest.mark.parametrize("histories", [pytest.param(range(now), id=f"{now}"), rest])
