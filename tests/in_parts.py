"""How much of a test `make test` goes through, and how much `make soak`."""

from __future__ import annotations

import pytest


def in_parts(now: int, *, with_soak: int) -> pytest.MarkDecorator:
    """A test with the parameter `histories` goes through so many in `make test`, and through all in `make soak`.

    :return: a decorator; `histories` is a range of seeds
    """
    every = pytest.param(range(with_soak), id="more", marks=pytest.mark.soak)
    return pytest.mark.parametrize("histories", [pytest.param(range(now), id=f"{now}"), every])
