"""Digest of a log: each event's bytes hashed together with the digest before it.

Two logs with the same digest hold the same events in the same order, as far as SHA-256 can tell. The registry computes
it over its log, the engine over the records of rules.v1 that it has applied.
"""

from __future__ import annotations

import hashlib
from typing import Final

START: Final = ""
"""The digest of no event."""


def extend(digest: str, value: bytes) -> str:
    """The digest after one more event, 64 hex digits.

    :param value: the record's value, as it stands in Kafka
    """
    return extend_by_hash(digest, hash_of(value))


def extend_by_hash(digest: str, value_hash: bytes) -> str:
    """The same, by `hash_of` the value."""
    return hashlib.sha256(bytes.fromhex(digest) + value_hash).hexdigest()


def hash_of(value: bytes) -> bytes:
    """SHA-256 of a record's value, 32 bytes."""
    return hashlib.sha256(value).digest()
