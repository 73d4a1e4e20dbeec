"""One page of a listing by an integer key, with the cursor to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rules_registry.adapters.queries import Page
from tripline_http.cursors import decode_cursor, encode_cursor
from tripline_http.links import next_link


def begin_after(listing: str, filters: Mapping[str, object], cursor: str | None) -> int:
    """The key after which the page begins: the cursor's, or 0. Raises the 400 problem for a cursor that is not ours."""
    if cursor is None:
        return 0
    (after,) = decode_cursor(cursor, listing, filters, [int])
    assert isinstance(after, int)
    return after


def link_of(listing: str, filters: Mapping[str, object], page: Page) -> dict[str, str]:
    """The `Link` header of a page; none on the last."""
    return link_after(listing, filters, page.next_after)


def link_after(listing: str, filters: Mapping[str, object], key: int | str | None) -> dict[str, str]:
    """The `Link` header to what comes after the key; none where nothing does."""
    return {} if key is None else next_link(encode_cursor(listing, filters, [key]))


def filters_of(query: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a query that filters."""
    return {name: value for name, value in query.items() if name not in ("limit", "cursor")}
