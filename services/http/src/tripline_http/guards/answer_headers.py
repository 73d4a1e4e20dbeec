"""Headers of every answer: no guessing of its type, no copy of it in a cache."""

from __future__ import annotations

from flask import Flask, Response


def install_answer_headers(app: Flask) -> None:
    """Sends `X-Content-Type-Options: nosniff` with each answer, and `Cache-Control: no-store` where the view has said
    nothing else about caching: answers hold transactions, and depend on the key that asks."""
    app.after_request(_complete)


def _complete(response: Response) -> Response:
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers.setdefault("Cache-Control", "no-store")
    return response
