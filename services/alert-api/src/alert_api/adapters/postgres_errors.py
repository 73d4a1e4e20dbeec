"""One translation of database errors for everything in this package."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool

from alert_api.errors import RecordNotStorable, StoreUnavailable

CONTENT_CLASSES = frozenset({"22", "23", "54"})
"""SQLSTATE classes that speak of the values given: data, integrity, a limit of the server exceeded."""


def translated(error: psycopg.Error) -> RecordNotStorable | StoreUnavailable:
    """The error as callers see it.

    What is not about the values is taken as an outage, a missing table or grant too: those are mended by an
    operator, and the same records can be stored after that.
    """
    sentence = str(error).strip().partition("\n")[0] or type(error).__name__
    about_content = isinstance(error, psycopg.DataError) or (error.sqlstate or "")[:2] in CONTENT_CLASSES
    return RecordNotStorable(sentence) if about_content else StoreUnavailable(sentence)


@contextmanager
def pooled(pool: ConnectionPool[psycopg.Connection[Any]]) -> Iterator[psycopg.Connection[Any]]:
    """A connection of the API's pool, whose errors are ours. Raises StoreUnavailable and RecordNotStorable."""
    try:
        with pool.connection() as connection:
            yield connection
    except psycopg.Error as error:
        raise translated(error) from error
