"""Request ids: `X-Request-Id` is taken from the caller or made, bound to every log line, and sent back."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

import structlog
from flask import Flask, Response, g, has_request_context, request

HEADER = "X-Request-Id"
# Anything else would let a caller write what it likes into our logs.
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)


def install_request_ids(app: Flask, new_id: Callable[[], str] = lambda: uuid.uuid4().hex) -> None:
    """Gives every request of the app an id, in log context and answer."""

    def begin() -> None:
        given = request.headers.get(HEADER, "")
        g.request_id = given if _ACCEPTED.fullmatch(given) else new_id()
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=g.request_id)

    def end(response: Response) -> Response:
        request_id = current_request_id()
        if request_id is not None:
            response.headers[HEADER] = request_id
        return response

    app.before_request(begin)
    app.after_request(end)


def current_request_id() -> str | None:
    """The id of the request being served; `None` outside of one."""
    if not has_request_context():
        return None
    value = g.get("request_id")
    return value if isinstance(value, str) else None
