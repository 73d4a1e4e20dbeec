"""Who makes this request, and why they say they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import marshmallow as ma
from flask import request

from rules_registry.domain.actor import Actor
from tripline_contracts import display_text
from tripline_http.auth import current_actor, current_role
from tripline_http.errors import FieldError, invalid_input
from tripline_http.guards.query_parameters import declares
from tripline_http.openapi import with_parameter
from tripline_http.request_ids import current_request_id

View = TypeVar("View", bound=Callable[..., Any])
MAX_REASON = 500
REASON_DOC = {
    "in": "query",
    "name": "reason",
    "required": False,
    "description": f"Why it is done, for the audit trail: a text {display_text.EXPECTED}",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": MAX_REASON,
        "pattern": display_text.NAME_PATTERN,
    },
}


class _ReasonQuery(ma.Schema):
    reason = ma.fields.String()


def takes_reason(view: View) -> View:
    """Lets the view be called with a reason, which `actor_of_request` reads."""
    return with_parameter(declares(view, _ReasonQuery), REASON_DOC)


def actor_of_request() -> Actor:
    """The caller of this request; only behind a required scope. Raises the 422 problem for an unfit reason."""
    reason = request.args.get("reason")
    if reason is not None and (message := display_text.problem_of(reason, MAX_REASON)):
        raise invalid_input([FieldError("query.reason", message)])
    return Actor(current_actor(), current_role(), current_request_id(), reason)
