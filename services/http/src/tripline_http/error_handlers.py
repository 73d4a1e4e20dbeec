"""The one place where exceptions become answers: every one of them a problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import structlog
from flask import Flask, Response
from werkzeug.exceptions import HTTPException

from tripline_http.errors import FieldError, ProblemError, bad_request, invalid_input
from tripline_http.problems import problem_response

log = structlog.get_logger(__name__)

# Headers of werkzeug's own answers that carry meaning; its Content-Type is that of an HTML page.
_KEPT_HEADERS = ("Allow", "Retry-After", "WWW-Authenticate", "Content-Range")


def install_error_handlers(app: Flask) -> None:
    """Answers every error of this app as `application/problem+json`, 404, 405 and 500 included."""
    app.register_error_handler(ProblemError, problem_response)
    app.register_error_handler(HTTPException, _from_http_exception)
    app.register_error_handler(Exception, _from_unexpected)


def _from_http_exception(error: HTTPException) -> Response:
    messages = getattr(error, "data", None)
    if isinstance(messages, Mapping) and "messages" in messages:
        return problem_response(_from_validation(error.code or 422, messages["messages"]))
    received = error.get_response().headers
    headers = {name: received[name] for name in _KEPT_HEADERS if name in received}
    detail = error.description or error.name
    return problem_response(ProblemError(error.code or 500, None, detail, headers=headers))


def _from_validation(status: int, messages: object) -> ProblemError:
    errors = tuple(_flatten(messages, ()))
    return (
        invalid_input(errors) if status == 422 else bad_request("The request cannot be read.", errors=errors)
    )


def _flatten(messages: object, path: tuple[str, ...]) -> Iterator[FieldError]:
    """webargs nests messages by location, field and index; a problem lists them by path."""
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            # A body field is named as it stands in the body; query and header fields say where they are.
            is_body = not path and key in ("json", "_schema")
            yield from _flatten(inner, path if is_body or key == "_schema" else (*path, str(key)))
    elif isinstance(messages, list | tuple):
        for inner in messages:
            yield from _flatten(inner, path)
    else:
        yield FieldError(".".join(path) or "body", str(messages))


def _from_unexpected(error: Exception) -> Response:
    # Whatever gets here is a fault of ours: the client learns the request id, the log the rest.
    log.error("unexpected error", exc_info=error)
    return problem_response(
        ProblemError(500, None, "Something went wrong here. The request id names the log entry.")
    )
