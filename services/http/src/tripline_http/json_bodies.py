"""Reading a JSON body strictly: whatever bytes come, the end is a value or a problem.

Python's own reader lets NaN through, takes the last of two members of one name, loses digits in floats, recurses until
it dies, and raises four kinds of error.
"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

from flask import Request

from tripline_contracts.errors import DuplicateMember
from tripline_contracts.exact_json import unique_members
from tripline_http.errors import FieldError, ProblemError, bad_request
from tripline_http.fields import is_storable

MAX_DEPTH = 48
"""More than the deepest rule has: a filter of 12 levels in a condition on the sixth, in a list of imported rules."""
_MAX_DIGITS = 24


def read_json(request: Request) -> Any:
    """The body's value; numbers that are not whole come as `Decimal`.

    Raises problems: 415 for another media type, 400 for what is not JSON in UTF-8, 422 for texts that cannot
    be stored (U+0000, lone surrogates), 413 from Flask for too much.
    """
    if not request.is_json:
        raise ProblemError(
            415,
            "unsupported-media-type",
            "Send the body as Content-Type: application/json.",
            headers={"Accept": "application/json"},
        )
    value = parse_json(request.get_data(cache=False))
    _check(value, (), 0)
    return value


def parse_json(data: bytes) -> Any:
    """Exactly one JSON value in UTF-8; raises the 400 problem for anything else."""
    try:
        text = data.decode("utf-8")
        return json.loads(
            text, parse_float=_number, parse_constant=_refuse_constant, object_pairs_hook=unique_members
        )
    except DuplicateMember as error:
        fields = [FieldError(_encodable(error.member), "given twice; expected once")]
        raise bad_request(f"The body is ambiguous: {error}.", errors=fields) from error
    except UnicodeDecodeError as error:
        raise bad_request("The body is not UTF-8.") from error
    except RecursionError as error:
        raise bad_request(f"The body nests more than {MAX_DEPTH} levels.") from error
    except json.JSONDecodeError as error:
        raise bad_request(
            f"The body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from error
    except ValueError as error:
        # Integers of thousands of digits, NaN, Infinity, exponents beyond reason.
        raise bad_request("The body has a number that cannot be read.") from error


def _number(text: str) -> Decimal | int:
    """`1.0` and `1e3` are integers to JSON Schema, so they are to us; the rest stays exact."""
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        raise ValueError(text) from error
    if not value.is_finite():
        raise ValueError(text)
    # Looked at before anything is multiplied out: 1e999999 is short here and long as an integer.
    is_small = value.adjusted() < _MAX_DIGITS
    return int(value) if is_small and value == value.to_integral_value() else value


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(text)


def _check(value: Any, path: tuple[str, ...], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise bad_request(f"The body nests more than {MAX_DEPTH} levels.")
    if isinstance(value, str):
        _check_text(value, path)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _check(inner, (*path, str(index)), depth + 1)
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_text(key, path)
            _check(inner, (*path, key), depth + 1)


def _check_text(text: str, path: tuple[str, ...]) -> None:
    if not is_storable(text):
        error = FieldError(_encodable(".".join(path)), "a text may hold neither U+0000 nor lone surrogates")
        raise ProblemError(422, "invalid-input", "The request has invalid fields.", errors=[error])


def _encodable(field: str) -> str:
    """A path that may hold what cannot be encoded itself, for an answer."""
    return field.encode("utf-8", "replace").decode("utf-8").replace("\x00", "?") or "body"
