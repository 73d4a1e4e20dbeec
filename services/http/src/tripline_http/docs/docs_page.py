"""The documentation of an API for people, at /docs: Swagger UI over the document that the service serves.

Everything comes from this service, under a policy that lets a browser load and run nothing else. Swagger UI's style
sheet has its images within it, as `data:` addresses, which the policy would have to allow to everybody: here they are
files of their own.
"""

from __future__ import annotations

import base64
import functools
import re
from dataclasses import dataclass
from importlib import resources
from typing import Final
from urllib.parse import unquote_to_bytes

from flask import Blueprint, Response, abort

from tripline_http.guards.page_policy import as_page

_HTML, _CSS, _JS = "text/html; charset=utf-8", "text/css; charset=utf-8", "text/javascript; charset=utf-8"
_DATA: Final = re.compile(r"""url\((["']?)data:([\w+/-]+)((?:;[\w=-]+)*),((?:\\.|(?!\1\)).)*)\1\)""")


@dataclass(frozen=True, slots=True)
class _File:
    """What is served under a name."""

    kind: str
    content: bytes


def docs_blueprint() -> Blueprint:
    """`GET /docs` and its files; no key is asked for, as for the document itself."""
    blueprint = Blueprint("docs", __name__)

    @blueprint.get("/docs")
    def page() -> Response:
        return _served("index.html")

    @blueprint.get("/docs/<name>")
    def file(name: str) -> Response:
        return _served(name)

    return blueprint


def _served(name: str) -> Response:
    served = _files().get(name)
    if served is None:
        abort(404)
    return as_page(Response(served.content, content_type=served.kind))


@functools.cache
def _files() -> dict[str, _File]:
    ours = resources.files("tripline_http") / "docs"
    theirs = resources.files("flask_swagger_ui") / "dist"
    css, images = _apart((theirs / "swagger-ui.css").read_text(encoding="utf-8"))
    return {
        "index.html": _File(_HTML, (ours / "index.html").read_bytes()),
        "docs.js": _File(_JS, (ours / "docs.js").read_bytes()),
        "swagger-ui-bundle.js": _File(_JS, (theirs / "swagger-ui-bundle.js").read_bytes()),
        "swagger-ui.css": _File(_CSS, css.encode()),
        **images,
    }


def _apart(css: str) -> tuple[str, dict[str, _File]]:
    """A style sheet, and the images that were in it."""
    images: dict[str, _File] = {}

    def address(data: re.Match[str]) -> str:
        _, kind, options, content = data.groups()
        name = f"image-{len(images)}.{kind.rpartition('/')[2].removesuffix('+xml')}"
        raw = re.sub(r"\\(.)", r"\1", content)
        images[name] = _File(kind, base64.b64decode(raw) if ";base64" in options else unquote_to_bytes(raw))
        return f"url(/docs/{name})"

    return _DATA.sub(address, css), images
