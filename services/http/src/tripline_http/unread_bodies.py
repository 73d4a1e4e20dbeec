"""Draining of request bodies: the rest that a view has not read is read after it and discarded.

A server that closes on unread bytes resets the connection, and its answer may be lost on the way: the caller sees a
broken connection instead of 401 or 413. gunicorn by itself reads 64 KiB more, which is less than the bodies we take.
"""

from __future__ import annotations

import socket
from typing import Any

from flask import Flask, Response, request
from gunicorn.http.errors import ParseException

MAX_BYTES = 8 * 1024 * 1024
"""Whoever sends more may lose the answer."""

# How long nothing may come. Callers without a key get here too: none of them may keep a thread by silence.
_SILENCE_SECONDS = 2.0
_CHUNK_BYTES = 65_536


def install_reading_to_the_end(app: Flask) -> None:
    """Reads the rest of each request's body once its answer is made."""
    app.after_request(_read_to_the_end)


def _read_to_the_end(response: Response) -> Response:
    connection = request.environ.get("gunicorn.socket")
    # Of other servers nobody knows whether reading on would wait for bytes that never come.
    if isinstance(connection, socket.socket) and request.environ.get("wsgi.input_terminated"):
        before = connection.gettimeout()
        connection.settimeout(_SILENCE_SECONDS)
        try:
            _forget(request.environ["wsgi.input"])
        except (OSError, ParseException):
            # Gone, silent, or no chunks as HTTP has them: the answer goes out all the same, as far as it gets.
            pass
        finally:
            connection.settimeout(before)
    return response


def _forget(body: Any) -> None:
    left = MAX_BYTES
    while left > 0 and (chunk := body.read(min(left, _CHUNK_BYTES))):
        left -= len(chunk)
