"""The console's files, under a policy that lets a browser load and run nothing else.

The page names them by addresses that have a digest of all of them. Nothing under such an address ever changes, so a
browser keeps it and does not ask again: modules name each other relative to their own, a hundred and fifty of them. A
page fetches those of its view; styles are one file.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

from flask import Blueprint, Response, abort, jsonify, request

from alert_api.api.event_type import event_type_json
from tripline_contracts.event_type import EventType
from tripline_contracts.rules.rule_templates import templates_of
from tripline_http.guards.page_policy import as_page
from tripline_http.guards.query_parameters import takes_any_query

TYPES: Final = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8"} | {
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}
FOR_GOOD: Final = "public, max-age=31536000, immutable"
_IMPORT: Final = re.compile(rb'@import "([^"]+)";\n')
# The page itself shows the view that the address names.
PAGES: Final = (
    "/",
    "/live",
    "/health",
    "/cases",
    "/cases/<int(min=1, max=9007199254740991):_case>",
    "/cases/snoozes",
    "/webhooks",
    "/rules",
    "/rules/backtests",
    "/rules/mappings",
    "/rules/<int(min=1, max=2147483647):_rule>",
    "/lists",
    "/alerts",
    "/alerts/<uuid:_alert>",
    "/changes",
    "/controls",
    "/rejected",
    "/audit",
    "/keys",
)


def console_blueprint(event_type: EventType) -> Blueprint:
    """The page at / and at the address of each view, its files under /console/files/{digest}/ and /console/.

    With them comes what the console calls things and where its rule form begins, which the event type decides: it is no
    secret either.
    """
    blueprint = Blueprint("console", __name__)
    files = dict(_files(resources.files("alert_api").joinpath("console")))
    files["styles.css"] = _IMPORT.sub(lambda line: files[line[1].decode()], files["styles.css"])
    release = digest_of(files)
    files["index.html"] = files["index.html"].replace(b'"/console/', f'"/console/files/{release}/'.encode())

    # Filters in the address of a page are the page's own.
    @takes_any_query
    def page(**_: object) -> Response:
        return _file("index.html")

    for path in PAGES:
        blueprint.add_url_rule(path, "page", page, methods=["GET"])

    @blueprint.get("/console/event-type")
    def declared() -> Response:
        response = jsonify(
            **event_type_json(event_type),
            templates=[template.to_json() for template in templates_of(event_type)],
        )
        response.headers["Cache-Control"] = "no-cache"
        return response

    @blueprint.get("/console/<path:name>")
    def asset(name: str) -> Response:
        return _file(name)

    @blueprint.get("/console/files/<of>/<path:name>")
    def kept(of: str, name: str) -> Response:
        """A window of another release is to be loaded anew: its modules do not know those of this one."""
        if of != release:
            abort(404)
        response = _file(name)
        response.headers["Cache-Control"] = FOR_GOOD
        return response

    def _file(name: str) -> Response:
        if name not in files:
            abort(404)
        response = as_page(Response(files[name], content_type=TYPES[name.rpartition(".")[2]]))
        response.add_etag()
        response.make_conditional(request)
        return response

    return blueprint


def _files(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, bytes]]:
    """The console's files by their paths from its folder: what is served is what was found here at the start."""
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{prefix}{entry.name}/")
        elif entry.name.rpartition(".")[2] in TYPES:
            yield f"{prefix}{entry.name}", entry.read_bytes()


def digest_of(files: Mapping[str, bytes]) -> str:
    """Of all names and contents, 16 hexadecimal digits."""
    whole = hashlib.sha256()
    for name, content in sorted(files.items()):
        whole.update(f"{name}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()[:16]
