"""Where a command came from: the request's id, and the caller's Idempotency-Key with what it was sent with."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from flask import request

from alert_api.service.cases.case_work import Origin
from tripline_http.errors import FieldError, bad_request
from tripline_http.request_ids import current_request_id

KEY_HEADER: Final = "Idempotency-Key"
KEY_PATTERN: Final = "[!-~]{1,128}"
KEY_DOC: Final[dict[str, Any]] = {
    "in": "header",
    "name": KEY_HEADER,
    "required": False,
    "description": "Any text of the caller's. The same key and request of the same caller happen once, and are "
    "answered with what it was for as it is by then; the same key with another request is refused with 422.",
    "schema": {"type": "string", "pattern": f"^{KEY_PATTERN}$"},
}


def origin_of(body: Mapping[str, Any]) -> Origin:
    """The request's origin. Raises the 400 problem for a key that cannot be used."""
    key = request.headers.get(KEY_HEADER)
    if key is None:
        return Origin(current_request_id())
    if not re.fullmatch(KEY_PATTERN, key):
        message = "expected 1 to 128 visible ASCII characters"
        raise bad_request(
            f"{KEY_HEADER} cannot be used.", errors=[FieldError(f"header.{KEY_HEADER}", message)]
        )
    text = json.dumps([request.path, request.headers.get("If-Match"), dict(body)], sort_keys=True)
    return Origin(current_request_id(), key, hashlib.sha256(text.encode()).hexdigest())
