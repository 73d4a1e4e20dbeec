"""`application/problem+json`: the body of every error answer (RFC 9457), and its schema for OpenAPI."""

from __future__ import annotations

import json
from http import HTTPStatus

import marshmallow as ma
from flask import Response

from tripline_http.errors import ProblemError
from tripline_http.request_ids import current_request_id

PROBLEM_TYPE = "application/problem+json"
URN = "urn:tripline:problem:"


class FieldErrorSchema(ma.Schema):
    """One wrong field of the request."""

    field = ma.fields.String(required=True, metadata={"description": "Path of the field, in dots"})
    message = ma.fields.String(required=True, metadata={"description": "What was expected"})


class ProblemSchema(ma.Schema):
    """An error as RFC 9457 says it."""

    class Meta:
        # Problem types have members of their own (`currentVersion`, `failed`).
        unknown = ma.INCLUDE

    type = ma.fields.String(required=True, metadata={"description": "A URN, or about:blank"})
    title = ma.fields.String(
        required=True, metadata={"description": "The same for every problem of this type"}
    )
    status = ma.fields.Integer(required=True, metadata={"minimum": 400, "maximum": 599})
    detail = ma.fields.String(metadata={"description": "What went wrong this time, and what to do"})
    requestId = ma.fields.String(metadata={"description": "The X-Request-Id of this answer"})  # noqa: N815
    errors = ma.fields.List(
        ma.fields.Nested(FieldErrorSchema), metadata={"description": "One entry per field"}
    )


def problem_response(problem: ProblemError) -> Response:
    """The Flask answer for a problem, headers included."""
    body: dict[str, object] = {
        "type": URN + problem.kind if problem.kind else "about:blank",
        "title": problem.title or _title_of(problem),
        "status": problem.status,
        "detail": problem.detail,
    }
    request_id = current_request_id()
    if request_id is not None:
        body["requestId"] = request_id
    if problem.errors:
        body["errors"] = [{"field": error.field, "message": error.message} for error in problem.errors]
    body |= {name: value for name, value in problem.extra.items() if name not in body}
    response = Response(json.dumps(body), status=problem.status, content_type=PROBLEM_TYPE)
    for name, value in problem.headers.items():
        response.headers[name] = value
    return response


def _title_of(problem: ProblemError) -> str:
    if problem.kind:
        return problem.kind.replace("-", " ").capitalize()
    return HTTPStatus(problem.status).phrase
