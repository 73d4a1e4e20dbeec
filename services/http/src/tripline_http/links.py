"""`Link: <…>; rel="next"`: the address of the page after this one (RFC 8288)."""

from __future__ import annotations

from urllib.parse import urlencode

from flask import request


def next_link(begin: str | int, parameter: str = "cursor") -> dict[str, str]:
    """The header for the page that `parameter` lets begin at `begin`, other query parameters as in this request.

    The reference is relative: what the caller wrote as Host is nothing to build addresses of.
    """
    query = [(name, value) for name, value in request.args.items(multi=True) if name != parameter]
    return {"Link": f'<{request.path}?{urlencode([*query, (parameter, begin)])}>; rel="next"'}


LINK_HEADER_DOC = {
    "Link": {
        "description": 'Address of the next page, rel="next"; absent on the last',
        "schema": {"type": "string"},
    }
}
