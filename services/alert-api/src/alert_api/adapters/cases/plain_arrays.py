"""Arrays of what needs no quotes, as the text that Postgres reads.

psycopg looks at each element of a list for its type and its quotes: for the hundreds of ids and times of a page that
takes longer than to find its alerts.
"""

from __future__ import annotations

from collections.abc import Iterable


def plain_array(values: Iterable[int | str]) -> str:
    """The text of an array of integers, ids or hashes, to be cast where it is asked for: `%s::bigint[]`."""
    return f"{{{','.join(map(str, values))}}}"
