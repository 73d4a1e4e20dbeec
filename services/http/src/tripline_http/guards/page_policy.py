"""Headers of pages and their files: a browser loads and runs nothing that is not from here."""

from __future__ import annotations

from typing import Final

from flask import Response

# Everything from this origin and nothing inline: a text that slipped in as markup could load and run nothing.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def as_page(response: Response) -> Response:
    """The answer with them: a browser keeps it and asks whether it changed, and no address goes to another site."""
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["Cache-Control"] = "no-cache"
    return response
