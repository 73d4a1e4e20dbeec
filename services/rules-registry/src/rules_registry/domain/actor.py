"""Who changes something, and what they say about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Actor:
    """The name and role of the key that a request came with, the request's id, and the reason that the caller gave.

    `role` is None for a key with scopes of its own, `request_id` outside of a request.
    """

    name: str
    role: str | None = None
    request_id: str | None = None
    reason: str | None = None
