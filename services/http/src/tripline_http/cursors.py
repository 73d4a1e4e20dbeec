"""Keyset cursors: where the next page of a listing begins.

A cursor is opaque to clients: base64url of `<checksum><JSON>`, the JSON being `[key, …]`. The checksum is
taken over the listing's name and its filters too, so that a cursor that was cut, changed or taken to another
listing is refused instead of giving a page that means nothing. It is no secret and protects nothing: keys are
checked like any input.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence

from tripline_http.errors import ProblemError
from tripline_http.fields import is_storable

Key = str | int
_CHECK_BYTES = 8
MAX_LENGTH = 1024
PATTERN = f"^[A-Za-z0-9_-]{{1,{MAX_LENGTH}}}$"


def encode_cursor(listing: str, filters: Mapping[str, object], keys: Sequence[Key]) -> str:
    """The cursor after the row with these keys, of that listing under those filters."""
    payload = json.dumps(list(keys), separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_check(listing, filters, payload) + payload).rstrip(b"=").decode()


def decode_cursor(
    cursor: str, listing: str, filters: Mapping[str, object], types: Sequence[type[str | int]]
) -> tuple[Key, ...]:
    """The keys in a cursor, one per entry of `types`. Raises the 400 problem for anything not made by
    `encode_cursor` for this listing and these filters. Integers are within 64 bits."""
    try:
        raw = base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4))
        check, payload = raw[:_CHECK_BYTES], raw[_CHECK_BYTES:]
        if len(cursor) > MAX_LENGTH or check != _check(listing, filters, payload):
            raise _invalid()
        keys = json.loads(payload)
    except (binascii.Error, UnicodeError, ValueError, RecursionError) as error:
        raise _invalid() from error
    if not isinstance(keys, list) or len(keys) != len(types):
        raise _invalid()
    if not all(_fits(key, kind) for key, kind in zip(keys, types, strict=True)):
        raise _invalid()
    return tuple(keys)


def _fits(key: object, kind: type[str | int]) -> bool:
    if kind is int:
        return isinstance(key, int) and not isinstance(key, bool) and -(2**63) <= key < 2**63
    return isinstance(key, str) and is_storable(key)


def _check(listing: str, filters: Mapping[str, object], payload: bytes) -> bytes:
    context = json.dumps([listing, {name: filters[name] for name in sorted(filters)}], default=str).encode()
    return hashlib.blake2b(context + b"\x00" + payload, digest_size=_CHECK_BYTES).digest()


def _invalid() -> ProblemError:
    return ProblemError(
        400, "invalid-cursor", "This cursor is not one of this listing with these filters; begin without one."
    )
