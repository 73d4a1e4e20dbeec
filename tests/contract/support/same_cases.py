"""The same cases in each run of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from hypothesis.internal.conjecture import providers


@contextmanager
def same_cases() -> Iterator[None]:
    """Hypothesis draws constants of the loaded modules of this project too, which differ with what was run before.

    What a campaign finds has to be found again by whoever runs it, so it goes without them: its seed alone decides.
    """
    providers.CONSTANTS_CACHE.cache.clear()
    with mock.patch.object(providers, "_get_local_constants", return_value=providers.GLOBAL_CONSTANTS):
        yield
    providers.CONSTANTS_CACHE.cache.clear()
