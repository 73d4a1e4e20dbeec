"""`Idempotency-Key`: a POST that may be sent twice and happens once."""

from __future__ import annotations

import hashlib
import json
import re

from flask import Response, jsonify, request

from rules_registry.service.ports import Answer
from rules_registry.service.registry import Repeatable
from tripline_http.errors import FieldError, bad_request

HEADER = "Idempotency-Key"
_PATTERN = "[!-~]{1,128}"
IDEMPOTENCY_KEY_DOC = {
    "in": "header",
    "name": HEADER,
    "required": False,
    "description": (
        "Any text of the caller's. For 24 hours the same key and request of the same caller get the same answer and "
        "happen once; the same key with another request is refused with 422. Only successes are remembered."
    ),
    "schema": {"type": "string", "pattern": f"^{_PATTERN}$"},
}


def repeatable(body: object = None) -> Repeatable | None:
    """The request's key, with a hash of all that makes it this request; `None` without the header."""
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not re.fullmatch(_PATTERN, key):
        message = "expected 1 to 128 visible ASCII characters"
        raise bad_request(f"{HEADER} cannot be used.", errors=[FieldError(f"header.{HEADER}", message)])
    parts = [request.method, request.path, request.headers.get("If-Match"), body]
    if request.args:
        # what is asked for alone, or for another reason, is another request
        parts.append(sorted(request.args.items(multi=True)))
    text = json.dumps(parts, sort_keys=True, default=str)
    return Repeatable(key, hashlib.sha256(text.encode()).hexdigest())


def response_of(answer: Answer) -> Response:
    """The answer as Flask sends it."""
    response = jsonify(dict(answer.body))
    response.status_code = answer.status
    response.headers.extend(dict(answer.headers))
    return response
