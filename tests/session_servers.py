"""Servers that tests share: each runs until its process comes to tests that need none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TypeVar

import pytest

T = TypeVar("T")
SERVERS: pytest.StashKey[list[ExitStack]] = pytest.StashKey()
"""What stops each server of this process, in the order of their starts."""


@contextmanager
def as_server(config: pytest.Config, server: AbstractContextManager[T]) -> Iterator[T]:
    """For a fixture of the whole session, which would else keep it to its end."""
    with ExitStack() as kept:
        config.stash.setdefault(SERVERS, []).append(kept)
        yield kept.enter_context(server)


def stop_servers(config: pytest.Config) -> None:
    """The last one first; what is stopped already stays so."""
    started: list[ExitStack] = config.stash.get(SERVERS, [])
    for server in reversed(started):
        server.close()
